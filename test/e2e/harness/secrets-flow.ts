import type { Simulator } from '../../../src/simulator';
import { type FlowNode, app, node } from '../../tooling/node-red/nodes';
import { ONE } from './devices';
import { around, idOf } from './flows';
import type { Message } from './node-red';

/** Typed as credentials, with signs that every way of writing a request has a form of its own for. */
export const KEYS = {
  appkey: 'Canary-App/Key+4F1D %&=?',
  serverKey: 'Canary-Server/Key+7B2C%',
  serverPassword: 'Canary-Server/Password "9E0A" &=',
};
export const DEVKEY = 'Canary-DevKey-6E1F';

const timeout = '12';
const replying = {
  property: 'id',
  equals: '7',
  equalsType: 'num',
  replyTimeout: '2',
  timeout,
} as const;
const uploads = { operation: 'uploads', query: 'query', queryType: 'msg' } as const;

/** Everything that an action node can do, and a message that makes it do so. */
const OPERATIONS: Record<string, [node: Omit<FlowNode, 'id'>, message: Message]> = {
  push: [node('push', { timeout }), { payload: 'x' }],
  'push-to-app': [node('push', { target: 'app', timeout }), { payload: 'x' }],
  'push-over-channel': [node('push', { transport: 'channel', timeout }), { payload: 'x' }],
  'push-to-many': [node('push', { many: true, timeout }), { payload: 'x' }],
  'push-when-online': [node('push', { when: 'online', expires: '2', timeout }), { payload: 'x' }],
  request: [node('request', replying), { payload: { get: 'rssi', id: 7 } }],
  'gpio-pulse': [
    node('gpio', { operation: 'pulse', duration: '10', timeout }),
    { pin: 1, payload: 1 },
  ],
  'gpio-set': [node('gpio', { timeout }), { pin: 1, payload: 1 }],
  'gpio-read': [node('gpio', { operation: 'read', timeout }), { pin: 1 }],
  reboot: [node('reboot', { timeout }), {}],
  refresh: [node('refresh', { timeout }), {}],
  'rt-status': [node('rt-status', { timeout }), { key: 'uptime' }],
  devices: [node('devices'), {}],
  'app-record': [node('devices', { operation: 'app' }), {}],
  uploads: [node('history'), {}],
  pushes: [node('history', { operation: 'pushes' }), {}],
  sync: [node('history', { operation: 'sync' }), { begin: '20260101', end: '20260102' }],
  'server-devices': [node('server'), { page: 1, count: 1 }],
  'server-device': [node('server', { operation: 'device' }), { deviceid: ONE }],
  'server-update': [
    node('server', { operation: 'update' }),
    { deviceid: ONE, payload: { name: 'x' } },
  ],
  'server-passthrough': [
    node('server', { operation: 'passthrough' }),
    { deviceid: ONE, payload: { data: 'x' } },
  ],
  'server-uploads': [node('server', uploads), { query: { page: 1, count: 1 } }],
};

/** A device for each operation, since commands to one device wait for each other. */
const deviceOf = (index: number): string => String(20000001 + index);
export const devices = [ONE, ...Object.keys(OPERATIONS).map((_, index) => deviceOf(index))].map(
  (chipid) => ({ chipid, devkey: `${DEVKEY}\0${chipid}` }),
);

/** For each operation the message, with a device. */
export const MESSAGES: Readonly<Record<string, Message>> = Object.fromEntries(
  Object.entries(OPERATIONS).map(([name, [, message]], index) => [
    name,
    { chipid: deviceOf(index), ...message },
  ]),
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
    scope: Object.keys(OPERATIONS)
      .filter((name) => !TELL_DEVKEYS.includes(name))
      .map(idOf),
  },
].map((each) => ({ ...each, z: 'tab', name: '', x: 100, y: 100, wires: [['debug']] }));

export const secretsFlow = (simulator: Simulator): FlowNode[] => [
  app(simulator, { timeout: '4', ping: '1' }),
  ...Object.entries(OPERATIONS).flatMap(([name, [each]]) => around(name, each)),
  ...around('listen', node('listen', { chipids: [ONE], recover: 'restart', datatype: 'json' })),
  ...around(
    'events',
    node('events', { events: ['presence', 'channel', 'recovery'], settle: '1', start: 'current' }),
  ),
  ...around('latest', node('latest', { chipid: '', datatype: 'json' })),
  ...PLANT,
  ...watchers,
  debug,
];
