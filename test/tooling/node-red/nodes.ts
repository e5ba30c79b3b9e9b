import { DEFAULTS as ACK } from '../../../nodes/ack/ack.config';
import {
  DEFAULTS as APP,
  type AppConfig,
  type AppCredentials,
} from '../../../nodes/app/app.config';
import { DEFAULTS as CLUSTER } from '../../../nodes/cluster/cluster.config';
import { DEFAULTS as DEVICES } from '../../../nodes/devices/devices.config';
import { DEFAULTS as EVENTS } from '../../../nodes/events/events.config';
import { DEFAULTS as GPIO } from '../../../nodes/gpio/gpio.config';
import { DEFAULTS as HISTORY } from '../../../nodes/history/history.config';
import { DEFAULTS as LATEST } from '../../../nodes/latest/latest.config';
import { DEFAULTS as LISTEN } from '../../../nodes/listen/listen.config';
import { DEFAULTS as PUSH } from '../../../nodes/push/push.config';
import { DEFAULTS as REBOOT } from '../../../nodes/reboot/reboot.config';
import { DEFAULTS as REFRESH } from '../../../nodes/refresh/refresh.config';
import { DEFAULTS as REQUEST } from '../../../nodes/request/request.config';
import { DEFAULTS as RT_STATUS } from '../../../nodes/rt-status/rt-status.config';
import { DEFAULTS as SERVER } from '../../../nodes/server/server.config';
import { DEFAULTS as TYPE } from '../../../nodes/type/type.config';
import type { Simulator } from '../../../src/simulator';

/** A node as a flow file contains it. */
export interface FlowNode {
  id: string;
  type: string;
  [property: string]: unknown;
}

/** The properties of each node and their defaults. */
const NODES = {
  push: PUSH,
  gpio: GPIO,
  reboot: REBOOT,
  refresh: REFRESH,
  'rt-status': RT_STATUS,
  devices: DEVICES,
  history: HISTORY,
  latest: LATEST,
  server: SERVER,
  listen: LISTEN,
  ack: ACK,
  request: REQUEST,
  events: EVENTS,
  type: TYPE,
  cluster: CLUSTER,
};

/** The properties of each node, as they are saved. */
export type NodeProperties = typeof NODES;

type Samples = Omit<NodeProperties, 'listen' | 'type' | 'cluster'> & {
  listen: NodeProperties['listen'] & { inputs: number };
};

const device = { app: 'app', chipid: '10000001', chipidType: 'str' } as const;

/** The id of a type. */
const typed = { deviceType: 'type' } as const;

const many = { many: true, atOnce: '4' } as const;
const wait = { when: 'online', expires: '60', replace: true } as const;

/** Each node with every property unlike its default, where there is a choice. */
export const CHANGED: Samples = {
  push: {
    ...device,
    ...many,
    ...wait,
    target: 'device',
    transport: 'channel',
    format: 'HEX',
    message: '48 65 6c',
    messageType: 'str',
    timeout: '7',
  },
  gpio: {
    ...typed,
    ...device,
    ...many,
    ...wait,
    operation: 'read',
    pin: '5',
    pinType: 'num',
    level: '1',
    levelType: 'num',
    duration: '800',
    check: '60',
    codes: '{"0":"low","1":"high"}',
    timeout: '0.5',
  },
  reboot: {
    ...device,
    chipid: 'device',
    chipidType: 'flow',
    ...many,
    many: false,
    when: 'upload',
    expires: '7200',
    replace: true,
    timeout: '30',
  },
  refresh: {
    ...device,
    chipid: '$$.device',
    chipidType: 'jsonata',
    ...many,
    offline: 'answer',
    timeout: '20',
  },
  'rt-status': {
    ...typed,
    ...device,
    ...many,
    key: 'temperature',
    keyType: 'str',
    datatype: 'utf8',
    timeout: '3',
  },
  devices: { app: 'app', operation: 'app' },
  history: {
    ...typed,
    ...device,
    operation: 'sync',
    begin: '20260101',
    beginType: 'str',
    end: '',
    endType: 'date',
    datatype: 'json',
    split: true,
    incremental: true,
  },
  latest: { ...device, ...typed, datatype: 'utf8', missing: 'null' },
  server: {
    app: 'app',
    operation: 'update',
    deviceid: 'device-1',
    deviceidType: 'str',
    page: '2',
    pageType: 'num',
    count: 'count',
    countType: 'msg',
    body: '{"a":1}',
    bodyType: 'json',
    query: 'query',
    queryType: 'msg',
  },
  listen: {
    ...typed,
    app: 'app',
    devices: 'list',
    chipids: ['10000001', '12345678901234567890'],
    group: 'pumps',
    refresh: '30',
    datatype: 'base64',
    recover: 'restart',
    acknowledge: 'ack',
    redeliver: '20',
    attempts: '3',
    inputs: 0,
  },
  ack: { app: 'app' },
  request: {
    ...typed,
    ...device,
    many: true,
    atOnce: '4',
    format: 'B64',
    message: 'AQL/',
    messageType: 'str',
    match: 'pattern',
    property: 'reply.id',
    equals: '7',
    equalsType: 'num',
    pattern: '^OK',
    replyTimeout: '60',
    datatype: 'json',
    timeout: '7',
  },
  events: {
    app: 'app',
    devices: 'list',
    chipids: ['10000001', '12345678901234567890'],
    group: 'pumps',
    events: ['presence', 'channel', 'recovery'],
    refresh: '30',
    misses: '3',
    silence: '120',
    settle: '5',
    start: 'current',
  },
};

/** As the editor saves them: it makes texts of numbers. */
const asSaved = <C extends object>(config: C): C =>
  Object.fromEntries(
    Object.entries(config).map(([name, value]) => [
      name,
      typeof value === 'number' ? String(value) : value,
    ]),
  ) as C;

/** A node of the package, new but for the properties given. */
export function node<Kind extends keyof NodeProperties>(
  kind: Kind,
  properties: Partial<NodeProperties[Kind]> = {},
): Omit<FlowNode, 'id'> {
  const usual = { ...NODES[kind], ...('app' in NODES[kind] ? { app: 'app' } : {}) };
  return { type: `device-cloud-${kind}`, ...asSaved(usual), ...properties };
}

/** The tab that {@link placed} nodes are on. */
export const TAB: FlowNode = { id: 'tab', type: 'tab', label: 'Flow' };

/** The same on a tab. @param more its id if that is not the kind, its place and its wires */
export const placed = <Kind extends keyof NodeProperties>(
  kind: Kind,
  properties: Partial<NodeProperties[Kind]> = {},
  more: Partial<FlowNode> = {},
): FlowNode => ({
  ...node(kind, properties),
  ...{ id: kind, type: `device-cloud-${kind}`, z: TAB.id, x: 200, y: 100, wires: [[]] },
  ...more,
});

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
    ...asSaved(APP),
    baseUrl,
    appid,
    ...properties,
    credentials: { appkey, serverKey, serverPassword, ...credentials },
  };
}
