import { ONE } from './fixture';
import { around } from './flows';
import { type FlowNode, node } from '../../tooling/node-red/nodes';
import type { Message } from './node-red';

/** Everything that an action node can do, and a message that makes it do so. */
export const OPERATIONS: Record<string, [node: Omit<FlowNode, 'id'>, message: Message]> = {
  push: [node('push', { timeout: '12' }), { payload: 'x' }],
  'push-to-app': [node('push', { target: 'app', timeout: '12' }), { payload: 'x' }],
  'push-over-channel': [node('push', { transport: 'channel', timeout: '12' }), { payload: 'x' }],
  'push-to-many': [node('push', { many: true, timeout: '12' }), { payload: 'x' }],
  'push-when-online': [node('push', { when: 'online', expires: '10', timeout: '12' }), { payload: 'x' }], // prettier-ignore
  request: [
    node('request', { property: 'id', equals: '7', equalsType: 'num', replyTimeout: '10', timeout: '12' }), // prettier-ignore
    { payload: { get: 'rssi', id: 7 } },
  ],
  'gpio-pulse': [node('gpio', { operation: 'pulse', duration: '10', timeout: '12' }), { pin: 1, payload: 1 }], // prettier-ignore
  'gpio-set': [node('gpio', { timeout: '12' }), { pin: 1, payload: 1 }],
  'gpio-read': [node('gpio', { operation: 'read', timeout: '12' }), { pin: 1 }],
  reboot: [node('reboot', { timeout: '12' }), {}],
  refresh: [node('refresh', { timeout: '12' }), {}],
  'rt-status': [node('rt-status', { timeout: '12' }), { key: 'uptime' }],
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
  'server-uploads': [
    node('server', { operation: 'uploads', query: 'query', queryType: 'msg' }),
    { query: { page: 1, count: 1 } },
  ],
};

/** The flow with a node for each. */
export const operationNodes = (): FlowNode[] =>
  Object.entries(OPERATIONS).flatMap(([name, [each]]) => around(name, each));
