import type { Simulator } from '../../../src/simulator';
import { app, node, type FlowNode } from '../../tooling/node-red/nodes';

const PLACE = { z: 'tab', x: 100, y: 100 };

/** Writes a line at once: what it says of an upload is so even if the process ends in the next moment. */
const writes = (id: string, journal: string, line: string): FlowNode => ({
  ...PLACE,
  ...{ id, type: 'function', name: id, outputs: 0, wires: [] },
  func: `const { chipid, payload, replayed, redelivered, topic, error, uncertain } = msg;
const now = Number(process.hrtime.bigint() / 1000000n);
fs.appendFileSync(${JSON.stringify(journal)}, [${line}].join(' ') + '\\n');`,
  libs: [
    { var: 'fs', module: 'fs' },
    { var: 'process', module: 'process' },
  ],
});

/** How many devices have a listener, too, whose uploads are acknowledged. */
export const ACKED = 60;

/** The pin for whose level there are wishes. */
export const WISHED_PIN = 5;

/** Sends a command to a device at random, with a text of its own. */
const commands = (
  id: string,
  devices: readonly string[],
  wires: string,
  name: string,
): FlowNode => ({
  ...PLACE,
  ...{ id, type: 'function', name: id, outputs: 1, wires: [[wires]] },
  func: `const chipids = ${JSON.stringify(devices)};
const count = (context.get('count') || 0) + 1;
context.set('count', count);
const topic = \`${name}:\${process.pid}:\${count}\`;
return { chipid: chipids[Math.floor(Math.random() * chipids.length)], payload: topic, topic };`,
  libs: [{ var: 'process', module: 'process' }],
});

/** Wishes for a level of a pin of a device at random, of those that no other process has wishes for. */
const wishes = (devices: readonly string[], processes: number): FlowNode => ({
  ...PLACE,
  ...{ id: 'wish', type: 'function', name: 'wish', outputs: 1, wires: [['wished', 'keep']] },
  func: `const own = ${JSON.stringify(devices)}.filter((_, at) => at % ${processes} === Number(process.env.SOAK_PLACE));
const count = (context.get('count') || 0) + 1;
context.set('count', count);
const chipid = own[Math.floor(Math.random() * own.length)];
return { chipid, payload: Math.floor(Math.random() * 2), topic: \`wish:\${process.pid}:\${count}\` };`,
  libs: [{ var: 'process', module: 'process' }],
});

const every = (id: string, seconds: number, wires: string): FlowNode => ({
  ...PLACE,
  ...{ id, type: 'inject', props: [], repeat: String(seconds), once: false, wires: [[wires]] },
});

/** Listens to all devices and sends commands, each of which it writes down. */
export const flows = (
  simulator: Simulator,
  {
    devices,
    journal,
    engine,
    processes,
    waiting,
  }: {
    devices: readonly string[];
    journal: string;
    engine: object;
    processes: number;
    /** Commands that wait for their device, a second. */
    waiting: number;
  },
): FlowNode[] => [
  { id: 'tab', type: 'tab', label: 'cluster' },
  app(simulator, { cluster: 'cluster' }),
  { id: 'cluster', type: 'device-cloud-cluster', ...engine, lease: 5 },
  {
    ...node('listen', { devices: 'list', chipids: [...devices], recover: 'restart' }),
    ...{ ...PLACE, id: 'listen', type: 'device-cloud-listen', wires: [['upload']] },
  },
  writes('upload', journal, `'upload', process.pid, chipid, payload, replayed === true, now`),
  {
    ...node('listen', {
      ...{ chipids: devices.slice(0, ACKED), acknowledge: 'ack', redeliver: 10, attempts: 1000 },
    }),
    ...{ ...PLACE, id: 'acked', type: 'device-cloud-listen', wires: [['emitted', 'pause']] },
  },
  writes('emitted', journal, `'emitted', process.pid, chipid, payload`),
  {
    ...{ ...PLACE, id: 'pause', type: 'delay', pauseType: 'delay', timeout: '100' },
    ...{ timeoutUnits: 'milliseconds', wires: [['about', 'ack']] },
  },
  writes(
    'about',
    journal,
    `'acked', process.pid, chipid, payload, redelivered === true || replayed === true, now`,
  ),
  { ...node('ack'), ...PLACE, id: 'ack', type: 'device-cloud-ack', wires: [[]] },
  every('often', 0.2, 'now'),
  commands('now', devices, 'push', 'now'),
  { ...node('push'), ...PLACE, id: 'push', type: 'device-cloud-push', wires: [['done']] },
  every('seldom', 1 / waiting, 'later'),
  commands('later', devices, 'wait', 'later'),
  {
    ...node('push', { when: 'upload', expires: 60 }),
    ...{ ...PLACE, id: 'wait', type: 'device-cloud-push', wires: [['done']] },
  },
  every('wishes', 1, 'wish'),
  wishes(devices, processes),
  writes('wished', journal, `'wished', topic, chipid, payload`),
  {
    ...node('gpio', { operation: 'keep', pin: String(WISHED_PIN), pinType: 'num' }),
    ...{ ...PLACE, id: 'keep', type: 'device-cloud-gpio', wires: [['kept']] },
  },
  writes('kept', journal, `'kept', topic, chipid, payload.state`),
  writes('done', journal, `'done', topic, 'OK', false`),
  { ...PLACE, id: 'catch', type: 'catch', scope: ['push', 'wait'], wires: [['failed']] },
  writes(
    'failed',
    journal,
    `'done', topic, error.code, uncertain === true || error.code === 'TIMEOUT'`,
  ),
];
