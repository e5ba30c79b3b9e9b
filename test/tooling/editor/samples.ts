import type { AppConfig } from '../../../nodes/app/app.config';
import { CHANGED, type FlowNode, type NodeProperties } from '../node-red/nodes';

/**
 * Disabled, since only their dialogs are of interest: a warning of one that runs may reach a page
 * before its flows do, and Node-RED's debug sidebar fails on that.
 */
const node = (id: string, type: string, properties: object, line: number): FlowNode => ({
  id,
  type: `device-cloud-${type}`,
  z: 'tab',
  d: true,
  name: '',
  ...properties,
  x: 600,
  y: 60 + 50 * line,
  wires: [[]],
});

/** Those that never wait, over the channel or reading: their dialogs save that. */
const push = { ...CHANGED.push, when: 'now' };
const gpio = { ...CHANGED.gpio, when: 'now' };

export const sampleNodes: FlowNode[] = Object.entries({ ...CHANGED, push, gpio }).map(
  ([type, properties], line) => node(type, type, properties as object, line),
);

const waits = { many: false, when: 'online' } as const;

/** The same nodes with other choices, which show other rows. */
export const variants: FlowNode[] = [
  node('push-to-app', 'push', { ...push, target: 'app', transport: 'http' }, 10),
  node('gpio-set', 'gpio', { ...CHANGED.gpio, operation: 'set' }, 11),
  node('gpio-read-all', 'gpio', { ...gpio, pin: '' }, 12),
  node('history-uploads', 'history', { ...CHANGED.history, operation: 'uploads' }, 13),
  node('server-devices', 'server', { ...CHANGED.server, operation: 'devices' }, 14),
  node('server-uploads', 'server', { ...CHANGED.server, operation: 'uploads' }, 15),
  node('listen-online', 'listen', { ...CHANGED.listen, devices: 'online' }, 16),
  node('push-waits', 'push', { ...CHANGED.push, transport: 'http', ...waits }, 22),
  node('gpio-pulse', 'gpio', { ...CHANGED.gpio, operation: 'pulse', ...waits }, 23),
  node('events-all', 'events', { ...CHANGED.events, devices: 'all', start: 'none' }, 29),
  node('listen-dynamic', 'listen', { ...CHANGED.listen, devices: 'dynamic', inputs: 1 }, 17),
  node('latest-all', 'latest', { ...CHANGED.latest, chipid: '', chipidType: 'msg' }, 24),
  node('request-property', 'request', { ...CHANGED.request, match: 'property' }, 25),
  node('request-pattern', 'request', { ...CHANGED.request, match: 'pattern' }, 26),
  node('request-next', 'request', { ...CHANGED.request, match: 'next' }, 27),
];

/** Nodes of a flow that somebody has written by hand, with next to nothing in it. */
export const bareNodes: FlowNode[] = [
  node('bare-push', 'push', { app: 'app' }, 18),
  node('bare-gpio', 'gpio', { app: 'app' }, 19),
  node('bare-history', 'history', { app: 'app' }, 20),
  node('bare-server', 'server', { app: 'app' }, 21),
  node('bare-request', 'request', { app: 'app', match: 'next' }, 28),
];

const APP: AppConfig = {
  service: 'simulator',
  baseUrl: '',
  appid: '',
  timeout: '5',
  heartbeat: '60',
  ping: '0',
  timestampUnit: 's',
  deviceGap: '20',
  historyZone: '-03:30',
  pins: '4,5,12',
  book: 'devices.csv',
  charset: 'gbk',
  tls: '',
  proxy: '',
  cluster: '',
};

const TYPE: NodeProperties['type'] = {
  decode: 'bytes',
  pairs: ',',
  equals: ':',
  bytes: 'i16be temperature / 100, u8 battery',
  units: '{"temperature": "°C"}',
  limits: 'temperature > 30 for 60 clear < 28',
  pins: 'valve: 5, lamp: 12 low',
  callbacks: 'temperature, rssi',
  withRaw: true,
};

const CLUSTER: NodeProperties['cluster'] = {
  url: '',
  sentinels: 'a.invalid, b.invalid',
  master: 'mymaster',
  tls: '',
  lease: '10',
};

/** The simulator, which the nodes use, and an application of the cloud. */
export const apps: FlowNode[] = [
  { id: 'app', type: 'device-cloud-app', name: '', ...APP },
  {
    ...{ id: 'my-cloud', type: 'device-cloud-app', name: 'my cloud', ...APP },
    ...{ service: 'cloud', baseUrl: 'https://cloud.invalid', appid: '12' },
    credentials: { appkey: 'secret-1', serverKey: 'key-1', serverPassword: 'secret-2' },
  },
  { id: 'type', type: 'device-cloud-type', name: '', ...TYPE },
  {
    ...{ id: 'cluster', type: 'device-cloud-cluster', name: '', ...CLUSTER },
    credentials: { user: 'node-red', password: 'secret-3' },
  },
];
