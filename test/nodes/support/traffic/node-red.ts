import { setImmediate as turn } from 'node:timers/promises';
import nodeRed from '@node-red/util';
import events from '@node-red/util/lib/events';
import type { NodeMessage } from 'node-red';
import { cloudApp, coreNode, node } from '../flow';
import type { FlowNode } from '../../../tooling/node-red/nodes';
import { CANARIES } from '../secrets';
import { comesToHold, until } from '../../../tooling/until';
import { embedNodeRed, type EmbeddedNodeRed } from '../../../tooling/node-red/embedded';
import {
  CHIPIDS,
  MEASURED,
  ROUNDS,
  SLEEPY,
  SLOW,
  TALKER,
  WAITING,
  type FromNodeRed,
  type Holding,
  type Question,
  type Report,
} from './messages';

/*
 * Node-RED in a separate process, whose flow is deployed a hundred times while pushes are on their
 * way and uploads arrive. The service is in the process of the test: what is measured here is Node-RED
 * and the package, and nothing that remembers messages.
 */

const [baseUrl = '', appid = ''] = process.argv.slice(2);
const DEPLOYS = ['full', 'flows', 'nodes'] as const;

const tell = (message: FromNodeRed): unknown => process.send?.(message);

/** Asks the test something about the service. @returns when it is so */
function ask(question: Question): Promise<void> {
  return new Promise((resolve) => {
    process.once('message', () => resolve());
    tell({ question });
  });
}

const flow = (round: number): FlowNode[] => [
  { id: 'tab', type: 'tab', label: `round ${round}` },
  { ...cloudApp({ baseUrl, appid }, { name: `round ${round}` }), credentials: { ...CANARIES } },
  node('push', { timeout: '60', wires: [] }),
  node('push', { id: 'channel', transport: 'channel', wires: [] }),
  node('listen', { chipids: [...CHIPIDS], recover: 'reconnect' }),
  node('events', { events: ['presence', 'channel', 'recovery'], silence: '1', wires: [] }),
  // Their replies, their devices and their second sets are still to come when they are closed.
  node('request', { match: 'pattern', pattern: '^reply$', wires: [] }),
  node('push', { id: 'held', when: 'upload', wires: [] }),
  node('gpio', { id: 'pulse', operation: 'pulse', duration: 60_000, wires: [] }),
  node('push', { id: 'many', many: true, timeout: '60', wires: [] }),
  coreNode('junction', { id: 'out', wires: [] }),
  // Nothing is asked of these: they are there to be made and closed.
  ...(
    ['devices', 'gpio', 'history', 'latest', 'reboot', 'refresh', 'rt-status', 'server'] as const
  ).map((kind) => node(kind, { wires: [] })),
];

let red: EmbeddedNodeRed;
let sent = 0;
let ended = 0;
let emitted = 0;
const ends: Record<string, number> = {};
/** Messages whose end is still to come, and those that ended before it was their time. */
const pending = new Set<object>();
const posted = new WeakSet<object>();
let unsettled = 0;

function post(id: string, chipid: unknown, payload: unknown): NodeMessage {
  const msg: NodeMessage = Object.assign({ _msgid: `${++sent}`, payload }, { chipid, pin: 1 });
  pending.add(msg);
  posted.add(msg);
  red.receive(id, msg);
  return msg;
}

function watch(): void {
  nodeRed.hooks.add('onComplete.traffic', ({ msg, error, node }: nodeRed.CompleteEvent) => {
    if (!node.node.type.startsWith('device-cloud-')) return;
    // A command that waits goes on after a deploy, as a message that its node receives anew.
    if (!posted.has(msg)) return;
    ended++;
    const end = (error as { code?: string } | undefined)?.code ?? (error ? String(error) : 'ok');
    ends[end] = (ends[end] ?? 0) + 1;
    if (!pending.delete(msg)) unsettled++;
  });
  nodeRed.hooks.add('onReceive.traffic', ({ destination }: nodeRed.ReceiveEvent) => {
    if (destination.id === 'out') emitted++;
  });
}

function holding(): Holding {
  const counts: Record<string, number> = {};
  const count = (what: string, how = 1): void => void (counts[what] = (counts[what] ?? 0) + how);
  for (const kind of process.getActiveResourcesInfo()) count(kind);
  for (const [name, emitter] of Object.entries({ process, events })) {
    for (const event of emitter.eventNames()) {
      count(`listeners of ${name}: ${String(event)}`, emitter.listenerCount(event));
    }
  }
  return counts;
}

async function heapInUse(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await turn();
  }
  return process.memoryUsage().heapUsed;
}

/** The flow works: a push is answered, one goes over the channel, an upload is emitted. */
async function works(round: number): Promise<void> {
  const before = { emitted, ok: ends['ok'] ?? 0 };
  post('push', CHIPIDS[0], `${round} good`);
  post('channel', CHIPIDS[1], `${round} good`);
  await until(() => (ends['ok'] ?? 0) === before.ok + 2, 'the good pushes are through');
  await until(() => emitted > before.emitted, 'an upload is emitted');
}

async function redeploy(round: number): Promise<void> {
  post('push', SLOW, `${round} hangs`);
  post('push', SLOW, `${round} waits`);
  post('many', [SLOW, SLEEPY], `${round} of many`);
  post('held', SLEEPY, `${round} held`);
  post('request', TALKER, `${round} request`);
  post('pulse', TALKER, 1);
  for (const chipid of CHIPIDS) {
    post('push', chipid, `${round} a`);
    post('push', chipid, `${round} b`);
    post('channel', chipid, `${round} c`);
  }
  await ask('is a push in flight?');
  await red.deploy(flow(round), DEPLOYS[round % DEPLOYS.length]);
  unsettled += pending.size;
  pending.clear();
}

async function run(): Promise<Report> {
  red = await embedNodeRed({ settings: { httpNodeRoot: false } });
  watch();
  await red.deploy([]);
  // Node-RED is still writing the file of its flow then.
  await until(() => holding()['FSReqCallback'] === undefined, 'the flow is saved');
  const before = holding();
  const heap: number[] = [];
  await red.deploy(flow(0));
  for (let round = 1; round <= ROUNDS; round++) {
    await redeploy(round);
    if (round % WAITING === 0) await works(round);
    if (MEASURED.some((measured) => measured === round)) heap.push(await heapInUse());
  }
  await red.deploy([]);
  await ask('is every socket closed?');
  const same = (): boolean => JSON.stringify(holding()) === JSON.stringify(before);
  // Reports what is left over to the test, which names it.
  await comesToHold(same);
  return { sent, ended, unsettled, ends, emitted, heap, before, after: holding() };
}

run().then(
  (report) => {
    // Node-RED keeps its process alive; the report has to be through before its end.
    process.send?.({ report } satisfies FromNodeRed, () => process.exit());
  },
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
