import type { AckConfig } from '../../nodes/ack/ack.config';
import type { AppConfig, AppCredentials } from '../../nodes/app/app.config';
import type { ClusterConfig } from '../../nodes/cluster/cluster.config';
import type { DevicesConfig } from '../../nodes/devices/devices.config';
import type { EventsConfig } from '../../nodes/events/events.config';
import type { GpioConfig } from '../../nodes/gpio/gpio.config';
import type { HistoryConfig } from '../../nodes/history/history.config';
import type { LatestConfig } from '../../nodes/latest/latest.config';
import type { ListenConfig } from '../../nodes/listen/listen.config';
import type { PushConfig } from '../../nodes/push/push.config';
import type { RebootConfig } from '../../nodes/reboot/reboot.config';
import type { RefreshConfig } from '../../nodes/refresh/refresh.config';
import type { RequestConfig } from '../../nodes/request/request.config';
import type { RtStatusConfig } from '../../nodes/rt-status/rt-status.config';
import type { ServerConfig } from '../../nodes/server/server.config';
import type { WorkConfig } from '../../nodes/work/work.config';
import type { Simulator } from '../../src/simulator';

/** A node as a flow file contains it. */
export interface FlowNode {
  id: string;
  type: string;
  [property: string]: unknown;
}

/** The properties of each node, as they are saved. */
export interface NodeProperties {
  push: PushConfig;
  gpio: GpioConfig;
  reboot: RebootConfig;
  refresh: RefreshConfig;
  'rt-status': RtStatusConfig;
  devices: DevicesConfig;
  history: HistoryConfig;
  latest: LatestConfig;
  server: ServerConfig;
  listen: ListenConfig;
  request: RequestConfig;
  events: EventsConfig;
  work: WorkConfig;
  ack: AckConfig;
  cluster: ClusterConfig;
}

const device = { app: 'app', chipid: 'chipid', chipidType: 'msg' } as const;

const many = { many: false, limit: '100', atOnce: '16' } as const;
const wait = { when: 'now', expires: '3600' } as const;

/** What the editor saves for a new node. */
const DEFAULTS: NodeProperties = {
  push: {
    ...device,
    ...many,
    ...wait,
    target: 'device',
    transport: 'http',
    format: 'MSG',
    message: 'payload',
    messageType: 'msg',
    timeout: '12',
  },
  gpio: {
    ...device,
    ...many,
    ...wait,
    operation: 'set',
    pin: 'pin',
    pinType: 'msg',
    level: 'payload',
    levelType: 'msg',
    duration: '500',
    codes: '{"0":0,"1":1}',
    timeout: '12',
  },
  reboot: { ...device, ...many, ...wait, timeout: '12' },
  refresh: { ...device, ...many, offline: 'error', timeout: '12' },
  'rt-status': {
    ...device,
    ...many,
    key: 'key',
    keyType: 'msg',
    datatype: 'auto-detect',
    timeout: '12',
  },
  devices: { app: 'app', operation: 'list' },
  history: {
    ...device,
    operation: 'uploads',
    begin: 'begin',
    beginType: 'msg',
    end: 'end',
    endType: 'msg',
    datatype: 'raw',
    split: false,
    incremental: false,
  },
  latest: { ...device, datatype: 'auto-detect', missing: 'error' },
  server: {
    app: 'app',
    operation: 'devices',
    deviceid: 'deviceid',
    deviceidType: 'msg',
    page: 'page',
    pageType: 'msg',
    count: 'count',
    countType: 'msg',
    body: 'payload',
    bodyType: 'msg',
    query: 'query',
    queryType: 'msg',
  },
  listen: {
    app: 'app',
    devices: 'list',
    chipids: [],
    refresh: '60',
    datatype: 'auto-detect',
    recover: 'reconnect',
    shard: '',
    deliver: 'here',
  },
  request: {
    ...device,
    format: 'MSG',
    message: 'payload',
    messageType: 'msg',
    match: 'property',
    property: '',
    equals: '',
    equalsType: 'str',
    pattern: '',
    expression: '',
    replyTimeout: '30',
    datatype: 'auto-detect',
    timeout: '12',
  },
  events: {
    app: 'app',
    devices: 'all',
    chipids: [],
    events: ['presence'],
    refresh: '60',
    misses: '2',
    silence: '0',
    settle: '10',
    start: 'none',
  },
  work: {
    app: 'app',
    datatype: 'auto-detect',
    acknowledge: 'sent',
    inFlight: '16',
    redeliver: '60',
    attempts: '5',
  },
  ack: { app: 'app' },
  cluster: { url: '', sentinels: '', master: '', tls: '', lease: '5' },
};

/** A node of the package, new but for the properties given. */
export function node<Kind extends keyof NodeProperties>(
  kind: Kind,
  properties: Partial<NodeProperties[Kind]> = {},
): Omit<FlowNode, 'id'> {
  return { type: `device-cloud-${kind}`, ...DEFAULTS[kind], ...properties };
}

/** The config node `app`, for a simulator as for a service of one's own. */
export function app(
  simulator: Pick<Simulator, 'baseUrl' | 'appid' | 'appkey' | 'serverKey' | 'serverPassword'>,
  properties: Partial<AppConfig> & { id?: string; d?: boolean } = {},
  credentials: AppCredentials = {},
): FlowNode {
  const { baseUrl, appid, appkey, serverKey, serverPassword } = simulator;
  return {
    id: 'app',
    type: 'device-cloud-app',
    name: '',
    service: 'cloud',
    baseUrl,
    appid,
    timeout: '15',
    heartbeat: '300',
    ping: '30',
    timestampUnit: 'ms',
    connections: '64',
    deviceGap: '0',
    historyEncoding: 'auto',
    historyZone: 'auto',
    pins: 'auto',
    charset: 'utf-8',
    postParameters: 'body',
    signCase: 'unicode',
    tls: '',
    proxy: '',
    cluster: '',
    ...properties,
    credentials: { appkey, serverKey, serverPassword, ...credentials },
  };
}
