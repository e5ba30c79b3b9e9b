import type { AppConfig } from '../../../nodes/app/app.config';
import type { Simulator } from '../../../src/simulator';
import { FAULTS, type FaultName } from '../../../src/simulator/faults';
import { ONE } from './fixture';
import { around, idOf } from './flows';
import { type FlowNode, app, node } from '../../tooling/node-red/nodes';
import { OPERATIONS, operationNodes } from './operations';

/** Typed as credentials, with signs that every way of writing a request has a form of its own for. */
export const KEYS = {
  appkey: 'Canary-App/Key+4F1D %&=?',
  serverKey: 'Canary-Server/Key+7B2C%',
  serverPassword: 'Canary-Server/Password "9E0A" &=',
};
export const TYPED = {
  appkey: 'Canary-Typed/App Key+5D6B',
  serverKey: 'Canary-Typed/Server+Key-2F9A',
  serverPassword: 'Canary-Typed Password %C17',
};
export const PROXY = { username: 'Canary-ProxyUser-3A5E', password: 'Canary/Proxy+Password%8C=' };
export const DEVKEY = 'Canary-DevKey-6E1F';

/** A device for each fault of a channel, since one makes the next attempt wait. */
export const deviceOf = (index: number): string => String(20000001 + index);
export const EVENTS = Object.keys(FAULTS.event) as FaultName[];
export const UPGRADES = Object.keys(FAULTS.upgrade) as FaultName[];
/** And one for each operation, since commands to one device wait for each other. */
export const OPERATION_NAMES = Object.keys(OPERATIONS);
const count = EVENTS.length + UPGRADES.length + OPERATION_NAMES.length;
export const devices = [ONE, ...Array.from({ length: count }, (_, index) => deviceOf(index))].map(
  (chipid) => ({ chipid, devkey: `${DEVKEY}\0${chipid}` }),
);

/** A flow that tells a secret in every way there is, so that the search is seen to find it. */
const PLANT: FlowNode[] = around('plant', {
  type: 'function',
  func: `node.warn('log ' + msg.secret);
node.status({ text: 'status ' + msg.secret });
flow.set('planted', 'context ' + msg.secret);
return { payload: 'message ' + msg.secret };`,
  ...{ outputs: 1, timeout: 0, noerr: 0, initialize: '', finalize: '', libs: [] },
});

const debug: FlowNode = {
  ...{ id: 'debug', type: 'debug', z: 'tab', name: '', x: 100, y: 100, wires: [] },
  ...{ active: true, tosidebar: true, console: true, tostatus: true },
  ...{ complete: 'true', targetType: 'full', statusVal: 'payload', statusType: 'auto' },
};
/** A device's record has its key: what these nodes send on is theirs to tell. */
export const TELL_DEVKEYS = ['devices', 'app-record'];
const watchers: FlowNode[] = [
  { id: 'catch-all', type: 'catch', scope: null, uncaught: false },
  { id: 'status-all', type: 'status', scope: null },
  {
    ...{ id: 'complete-all', type: 'complete' },
    scope: OPERATION_NAMES.filter((name) => !TELL_DEVKEYS.includes(name)).map(idOf),
  },
].map((each) => ({ ...each, z: 'tab', name: '', x: 100, y: 100, wires: [['debug']] }));

/** Config nodes for all kinds of hosts, by their ids. */
export type Hosts = Readonly<Record<string, Partial<AppConfig>>>;

const onHost = (simulator: Simulator, host: string, properties: Partial<AppConfig>): FlowNode[] => [
  app(simulator, { id: host, timeout: '4', ...properties }),
  ...around(`push-${host}`, node('push', { app: host, timeout: '4' })),
  ...around(`channel-${host}`, node('push', { app: host, transport: 'channel', timeout: '4' })),
  ...around(`list-${host}`, node('devices', { app: host })),
  ...around(`server-${host}`, node('server', { app: host })),
  ...around(`listen-${host}`, node('listen', { app: host, chipids: [ONE] })),
  ...around(`history-${host}`, node('history', { app: host })),
  ...around(`request-${host}`, node('request', { app: host, match: 'next', timeout: '4', replyTimeout: '1' })), // prettier-ignore
  ...around(`events-${host}`, node('events', { app: host, start: 'current' })),
];

/** @param proxy address of the proxy behind the config node `proxy` */
export const secretsFlow = (simulator: Simulator, hosts: Hosts, proxy: string): FlowNode[] => [
  app(simulator, { timeout: '4', ping: '1' }),
  {
    ...{ id: 'proxy', type: 'http proxy', name: '', url: proxy, noproxy: [] },
    credentials: { ...PROXY },
  },
  ...operationNodes(),
  ...around(
    'listen',
    node('listen', {
      chipids: EVENTS.map((_, index) => deviceOf(index)),
      recover: 'restart',
      datatype: 'json',
    }),
  ),
  ...around(
    'events',
    node('events', { events: ['presence', 'channel', 'recovery'], settle: '1', start: 'current' }),
  ),
  ...around('latest', node('latest', { chipid: '', datatype: 'json' })),
  ...Object.entries(hosts).flatMap(([host, properties]) => onHost(simulator, host, properties)),
  ...PLANT,
  ...watchers,
  debug,
];
