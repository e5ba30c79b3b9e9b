import { app, node, type FlowNode } from '../tooling/node-red/nodes';
import type { Simulator } from '../../src/simulator';

const PLACE = { z: 'tab', x: 100, y: 100 };

/** The pin for whose level there are wishes. */
export const WISHED_PIN = 5;

/** How a request ended that got the reply to another one. */
export const ANOTHER = 'ANOTHER';

/** What the flow is for. */
export interface FlowSettings {
  service: Pick<Simulator, 'baseUrl' | 'appid' | 'appkey' | 'serverKey' | 'serverPassword'>;
  /** The file that the flow writes into. */
  journal: string;
  /** Devices that are listened to, those whose uploads are acknowledged, too, and those that commands go to. */
  devices: readonly string[];
  acked: readonly string[];
  peers: readonly string[];
  datatype: 'auto-detect' | 'utf8';
  /** Commands a second that wait for their device. */
  waiting: number;
  /** Properties of the cluster, and how many processes there are. */
  engine: object | undefined;
  processes: number;
}

const fn = (id: string, func: string, wires: readonly string[] = []): FlowNode => ({
  ...PLACE,
  id,
  type: 'function',
  name: id,
  func,
  outputs: 1,
  wires: [wires],
  libs: ['fs', 'process', 'crypto'].map((module) => ({ var: module, module })),
});

const every = (id: string, seconds: number, wires: string): FlowNode => ({
  ...PLACE,
  id,
  type: 'inject',
  props: [],
  repeat: String(seconds),
  once: false,
  wires: [[wires]],
});

const placed = (id: string, each: Omit<FlowNode, 'id'>, wires: string[]): FlowNode => ({
  ...each,
  ...PLACE,
  id,
  type: String(each.type),
  wires: [wires],
});

/** Listens to all devices and sends commands, and writes down what becomes of them. */
export function flows(settings: FlowSettings): FlowNode[] {
  const { service, journal, devices, acked, peers, datatype, waiting, engine, processes } =
    settings;

  /** Writes a line at once: what it says is so even if the process ends in the next moment. */
  const writes = (id: string, line: string): FlowNode =>
    fn(
      id,
      `const { chipid, payload, topic, error } = msg;
const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
const [, count] = /#(\\d+)#/.exec(text) ?? [];
const isMarked = msg.replayed === true || msg.redelivered === true;
const now = Number(process.hrtime.bigint() / 1000000n);
const line = ${line};
if (line) fs.appendFileSync(${JSON.stringify(journal)}, line.join(' ') + '\\n');`,
    );

  /** Sends a command to a device at random, with a text of its own. */
  const commands = (id: string, to: readonly string[], wires: string[], payload = 'topic') =>
    fn(
      id,
      `const chipids = ${JSON.stringify(to)};
const own = ${id === 'wish'} ? chipids.filter((_, at) => at % ${processes} === Number(process.env.SOAK_PLACE)) : chipids;
const count = (context.get('count') || 0) + 1;
context.set('count', count);
const topic = \`${id}:\${process.pid}:\${count}\`;
return { chipid: own[Math.floor(Math.random() * own.length)], payload: ${payload}, topic };`,
      wires,
    );

  const shared: FlowNode[] = [
    { id: 'cluster', type: 'device-cloud-cluster', ...engine, lease: 5 },
    // No two processes have wishes for one device.
    every('wishes', 1, 'wish'),
    commands('wish', devices, ['wished', 'keep'], 'Math.floor(Math.random() * 2)'),
    writes('wished', `['wished', topic, chipid, payload]`),
    placed('keep', node('gpio', { operation: 'keep', pin: String(WISHED_PIN), pinType: 'num' }), [
      'kept',
    ]),
    writes('kept', `['kept', topic, chipid]`),
  ];
  const byId = { property: 'id', equals: 'payload.id', equalsType: 'msg' } as const;
  return [
    { id: 'tab', type: 'tab', label: 'soak' },
    // Pings and time-outs are short, so that much happens within the run.
    app(service, { ping: '1', ...(engine && { cluster: 'cluster' }) }),
    ...(engine ? shared : []),

    placed('listen', node('listen', { chipids: [...devices], datatype }), ['upload']),
    writes(
      'upload',
      `count && ['upload', process.pid, chipid, count, crypto.createHash('md5').update(text).digest('hex'), isMarked, msg.altered === true, now]`,
    ),
    placed(
      'acked',
      node('listen', {
        chipids: [...acked],
        datatype,
        acknowledge: 'ack',
        redeliver: '10',
        attempts: '1000',
      }),
      ['emitted', 'pause'],
    ),
    writes('emitted', `count && ['emitted', process.pid, chipid, count]`),
    {
      ...PLACE,
      id: 'pause',
      type: 'delay',
      pauseType: 'delay',
      timeout: '100',
      timeoutUnits: 'milliseconds',
      wires: [['about', 'ack']],
    },
    writes('about', `count && ['acked', process.pid, chipid, count, '-', isMarked, false, now]`),
    placed('ack', node('ack'), []),

    every('often', 0.2, 'now'),
    commands('now', peers, ['asked', 'push']),
    placed('push', node('push', { timeout: '4' }), ['ended']),
    every('seldom', 1 / waiting, 'later'),
    commands('later', peers, ['asked', 'wait']),
    placed('wait', node('push', { when: 'upload', expires: '60', timeout: '4' }), ['ended']),
    every('at-times', 0.5, 'ask'),
    commands('ask', peers, ['asked', 'request'], `{ get: 'rssi', id: topic }`),
    placed('request', node('request', { ...byId, timeout: '4', replyTimeout: '8' }), ['replied']),
    writes('asked', `['asked', process.pid, topic, now]`),
    writes('ended', `['ended', process.pid, topic, 'OK', false]`),
    writes(
      'replied',
      `['ended', process.pid, topic, payload.id === topic ? 'OK' : '${ANOTHER}', false]`,
    ),
    {
      ...PLACE,
      id: 'catch',
      type: 'catch',
      scope: ['push', 'wait', 'request'],
      wires: [['failed']],
    },
    writes('failed', `['ended', process.pid, topic, error.code, msg.uncertain === true]`),

    // A kill may lose what was emitted within the last second: a start emits the states once more.
    placed('events', node('events', { refresh: '1', start: engine ? 'none' : 'current' }), [
      'event',
    ]),
    writes('event', `['event', process.pid, msg.event, chipid ?? '-', now]`),
  ];
}
