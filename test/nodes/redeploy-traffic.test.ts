import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import events from '@node-red/util/lib/events';
import helper from 'node-red-node-test-helper';
import type { FlowNode } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { cloudApp, deploy, load, node } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, logged, post } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

const ROUNDS = 40;
/** Rounds after which the channels are waited for, which open at 50 a second at first. */
const WAITING = 5;

const CHIPIDS = ['10000001', '10000002'];
/** A device that never answers: a push to it is in flight until its node is closed. */
const SLOW = '10000003';
/** A device that never uploads: a command that waits for that is closed with its node. */
const SLEEPY = '10000004';
/** A device that is asked and never replies. */
const TALKER = '10000005';

/** The nodes of a round. Of the last eight nothing is asked: they are there to be made and closed. */
const NODES: FlowNode[] = [
  node('listen', { chipids: CHIPIDS, recover: 'reconnect' }),
  ...[
    node('push', { timeout: '60' }),
    node('push', { id: 'channel', transport: 'channel' }),
    node('listen', { id: 'online', devices: 'online' }),
    node('events', { events: ['presence', 'channel', 'recovery'], silence: '1' }),
    // Their replies, their devices and their second sets are still to come when they are closed.
    node('request', { match: 'pattern', pattern: '^reply$' }),
    node('push', { id: 'held', when: 'upload' }),
    node('gpio', { id: 'pulse', operation: 'pulse', duration: 60_000 }),
    node('push', { id: 'many', many: true, timeout: '60' }),
    ...['devices', 'gpio', 'history', 'latest', 'reboot', 'refresh', 'rt-status', 'server'].map(
      (kind) => node(kind),
    ),
  ].map((each) => ({ ...each, wires: [] })),
];

/** How a message may end whose node is closed before its call has; the last one if it waits when its node is removed. */
const BROKEN_OFF = ['CONNECTION_LOST', 'UNREACHABLE', 'NOT_CONNECTED', 'CANCELLED'];
/** How often messages have ended in each way; a command that waits goes on after a deploy, as another message. */
function ends(): Record<string, number> {
  const found: Record<string, number> = {};
  const sent = new Set(journal.sent.map(({ msg }) => msg));
  for (const { error } of journal.endings.filter(({ msg }) => sent.has(msg))) {
    const end = error ? String((error as { code?: unknown }).code ?? error) : 'ok';
    found[end] = (found[end] ?? 0) + 1;
  }
  return found;
}

/** The open resources of the process, such as sockets and timers, and who listens to it, counted by kind. */
type Held = Readonly<Record<string, number>>;

function count(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  for (const [name, emitter] of Object.entries({ process, events }))
    for (const event of emitter.eventNames())
      counts[`listeners of ${name}: ${String(event)}`] = emitter.listenerCount(event);
  return counts;
}

/** What is held once the files are through that Node-RED or the test runner is reading or writing. */
async function held(): Promise<Held> {
  await until(() => count()['FSReqCallback'] === undefined, 'no file is being read or written');
  return count();
}

/** Waits until no more is held than before. */
async function nothingMore(before: Held): Promise<void> {
  const more = (): string[] =>
    Object.entries(count()).flatMap(([kind, number]) =>
      number > (before[kind] ?? 0) ? `${number} ${kind}` : [],
    );
  await until(() => more().length === 0, 'no more is held than before').catch((error: unknown) => {
    throw new Error(`${more().join(', ')} held, before ${JSON.stringify(before)}`, {
      cause: error,
    });
  });
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe(`${ROUNDS} redeploys under traffic`, () => {
  useNodeRed();

  it('end each message once, repeat no push, and leave no socket, timer, listener or node behind', async () => {
    const cloud = await startCloud({ devices: 5, answerDelay: 5, offlineAfter: 60_000 });
    cloud.delay(SLOW, 60_000);
    const flow = (round: number): FlowNode[] => [
      cloudApp(cloud, { name: `round ${round}`, heartbeat: 1, ping: 1 }),
      ...NODES.map((each) => ({ ...each, name: `round ${round}` })),
    ];
    await load([]);
    const before = await held();
    let uploads = 0;
    const traffic = setInterval(() => {
      cloud.upload(CHIPIDS[uploads % 2]!, `upload ${uploads++}`);
    }, 2);
    const gone: WeakRef<object>[] = [];
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await deploy(flow(round), (['full', 'flows', 'nodes'] as const)[round % 3]);
        if (round % WAITING === 0) {
          const { ok = 0 } = ends();
          const emitted = arrivedAt('out').length;
          post('push', { chipid: CHIPIDS[0], payload: `${round} good` });
          post('channel', { chipid: CHIPIDS[1], payload: `${round} good` });
          await until(() => ends()['ok'] === ok + 2, 'the good pushes are through');
          await until(() => arrivedAt('out').length > emitted, 'an upload is emitted');
          // It waits for its next attempt, or reads the history, when its node is closed.
          await until(() => cloud.channels(CHIPIDS[0]) === 1, 'the channel is open');
          const downs = (): number => logged(/the channel is down/).length;
          const known = downs();
          cloud.disconnect(CHIPIDS[0]);
          await until(() => downs() > known, 'the log says so');
        }
        for (const payload of ['hangs', 'waits'])
          post('push', { chipid: SLOW, payload: `${round} ${payload}` });
        post('many', { chipid: [SLOW, SLEEPY], payload: `${round} of many` });
        post('held', { chipid: SLEEPY, payload: `${round} held` });
        post('request', { chipid: TALKER, payload: `${round} request` });
        post('pulse', { chipid: TALKER, pin: 1, payload: 1 });
        for (const chipid of CHIPIDS) {
          for (const text of ['a', 'b']) post('push', { chipid, payload: `${round} ${text}` });
          post('channel', { chipid, payload: `${round} c` });
        }
        await until(() => cloud.device(SLOW).inFlight === 1, 'a push is in flight');
        for (const { id } of flow(round)) gone.push(new WeakRef(helper.getNode(id)!));
      }
    } finally {
      clearInterval(traffic);
    }
    await deploy([]);
    await until(() => cloud.sockets() === 0, 'every socket is closed');
    const { ok: _, ...broken } = ends();
    for (const code of Object.keys(broken)) assert.ok(BROKEN_OFF.includes(code), code);
    // One push was under way and one waited behind it at each deploy: those there are for certain. A channel that was
    // still being opened is left out: how often depends on how quick the machine is.
    for (const code of BROKEN_OFF.slice(0, 2)) assert.ok((broken[code] ?? 0) >= ROUNDS, code);
    for (const { received } of cloud.devices.values()) {
      const texts = received.map(({ text }) => text);
      assert.equal(new Set(texts).size, texts.length, 'no push acted twice');
    }
    await nothingMore(before);
    helper._sandbox.resetHistory();
    const isCollected = (): boolean => {
      collect();
      return gone.every((each) => !each.deref());
    };
    await until(isCollected, 'no node that has been closed is kept', 20_000);
  });
});
