import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeptCalls, keptStoreOf, withOrigin, type KeptCommands } from '../../../src/for-nodes';
import { clusterOf } from '../../../src/cluster/cluster';
import { endLeftCalls } from '../../../src/cluster/left-calls';
import { atEnd } from '../../../tooling/servers/at-end';
import { startSlowLink, type SlowLink } from '../../../tooling/servers/slow-link';
import { StoreError, type Store } from '../../../src/cluster/store';
import { startRedis, type RedisProcess } from '../../../tooling/servers/redis';
import { comesToHold, until } from '../../../tooling/until';
import { redisCli } from './redis-cli';
import { processesOn, type Processes, type ProcessModel } from './processes';

/** What a call pushes. */
interface Text {
  text: string;
  when: 'online' | 'upload';
}

/** A process whose commands wait. */
class Sender {
  readonly calls: KeptCalls;
  readonly ends = new Map<string, string>();
  readonly failures: unknown[] = [];

  constructor(readonly process: ProcessModel) {
    this.calls = new KeptCalls({
      store: () => Promise.resolve(keptStoreOf(process.client.waiting, 'app')),
      failed: (error) => this.failures.push(error),
    });
  }

  /** Has a push wait. */
  send(text: string, chipid: string, { when = 'upload', ...options }: Options = {}): Promise<void> {
    const what: Text = { text, when };
    return this.carryOut(
      this.calls.add({ chipids: [chipid], node: 'n', what: () => what }),
      options,
    );
  }

  /** Goes on with the calls of processes that are gone. */
  async take(): Promise<KeptCommands[]> {
    const found = await this.calls.take();
    for (const kept of found) void this.carryOut(kept);
    return found;
  }

  async carryOut(kept: KeptCommands, options: Omit<Options, 'when'> = {}): Promise<void> {
    const { text, when } = kept.call.what() as Text;
    const [chipid = ''] = kept.call.chipids;
    const mark = kept.marks.get(chipid);
    try {
      if (mark !== undefined) throw Object.assign(new Error(), { code: `was ${String(mark)}` });
      const full = withOrigin({ timeout: 3000, ...options, when }, { node: 'n', kept });
      await this.process.client.push(chipid, text, full);
      this.ends.set(text, 'OK');
    } catch (error) {
      this.ends.set(text, kept.isDetached ? 'moved' : String((error as { code?: unknown }).code));
    }
    if (!kept.isDetached) await kept.close();
  }

  /** How many commands of all processes wait. */
  async waiting(): Promise<number> {
    return (await this.process.client.waiting.list()).length;
  }
}

interface Options {
  when?: Text['when'];
  replace?: boolean;
  expires?: number;
}

describe('waiting commands of several processes', () => {
  let redis: RedisProcess;
  /** Of the first process. */
  let link: SlowLink;
  let world: Processes;
  let senders: [Sender, Sender];
  /** One that the first process has the channel of. */
  let chipid: string;

  beforeEach(async () => {
    redis = await startRedis();
    link = await startSlowLink(redis.port);
    world = await processesOn(redis.port, link.port);
    senders = world.all.map((each) => new Sender(each)) as [Sender, Sender];
    const found = world.chipids.find((each) => world.owner(each) === world.all[0]);
    assert.ok(found !== undefined);
    chipid = found;
  });
  afterEach(async () => {
    await link.close();
    await redis.end();
  });

  const received = (): string[] => world.simulator.device(chipid).received.map(({ text }) => text);
  const waits = (count: number): Promise<void> =>
    until(
      async () =>
        (await Promise.all(senders.map((each) => each.waiting().catch(() => -1)))).every(
          (n) => n === count,
        ),
      `all processes list ${count}`,
    );
  /** One after the other, so that the order of arrival is known. */
  const queue = async (...texts: string[]): Promise<void> => {
    for (const [index, text] of texts.entries()) {
      void senders[index % 2]!.send(text, chipid);
      await waits(index + 1);
    }
  };

  it('are sent in the order of arrival, each by the process that has its message', async () => {
    await queue('a', 'b', 'c', 'd');
    const { client } = senders[1].process;
    const listed = await client.waiting.list(chipid);
    assert.deepEqual(
      listed.map(({ kind, node, when }) => [kind, node, when]),
      Array.from({ length: 4 }, () => ['push', 'n', 'upload']),
    );
    assert.ok(listed.every(({ since, until: end }) => end - since > 3_599_000 && since > 1e12));
    world.simulator.upload(chipid, 'awake');
    await until(() => senders.every(({ ends }) => ends.size === 2), 'all have ended');
    assert.deepEqual(received(), ['a', 'b', 'c', 'd']);
    await waits(0);
    assert.deepEqual(
      senders.map(({ ends }) => [...ends]),
      [
        [
          ['a', 'OK'],
          ['c', 'OK'],
        ],
        [
          ['b', 'OK'],
          ['d', 'OK'],
        ],
      ],
    );
    for (const name of ['calls', 'whats', 'callers', 'marks', 'waits'])
      await until(
        async () => !(await redisCli(redis.port, 'KEYS', '*')).includes(`:${name}\n`),
        `${name} is empty`,
      );
  });

  it('go on in another process when theirs dies: once, in order, and not if they had begun', async () => {
    const [dying, other] = senders;
    await queue('begun', 'b', 'c', 'd');
    world.simulator.fail('hang', { chipid, acts: true, path: 'push' });
    world.simulator.upload(chipid, 'awake');
    await until(() => received().length === 1, 'the first has reached the device');
    await dying.process.kill();
    await until(() => !other.process.member.members.includes(dying.process.member.member), 'gone');
    world.simulator.heal();
    await until(async () => (await other.take()).length > 0, 'its calls are taken over');
    assert.equal(other.ends.get('begun'), 'was begun');
    await until(() => {
      world.simulator.upload(chipid, 'awake');
      return received().length === 4;
    }, 'the rest is sent');
    assert.deepEqual(received(), ['begun', 'b', 'c', 'd']);
    await until(() => other.ends.has('d'), 'the last has ended');
    assert.deepEqual(
      [...other.ends].filter(([, end]) => end === 'OK').map(([text]) => text),
      ['b', 'c', 'd'],
    );
  });

  it('are in order however long it takes to take over those that come first', async () => {
    const [dying, other] = senders;
    await queue('a', 'b', 'c', 'd');
    await dying.process.kill();
    await until(() => !other.process.member.members.includes(dying.process.member.member), 'gone');
    let open!: () => void;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const { calls } = world.stores[1]!;
    const read = calls.read.bind(calls);
    const slow = mock.method(calls, 'read', (...args: Parameters<typeof read>) =>
      opened.then(() => read(...args)),
    );
    const taken = until(async () => (await other.take()).length > 0, 'its calls are taken over');
    await until(() => slow.mock.callCount() > 0, 'they are being taken over');
    await until(() => other.process.state(chipid) === 'connected', 'it has the channel');
    world.simulator.upload(chipid, 'awake');
    // Longer than another process is waited for.
    await sleep(4000);
    assert.deepEqual(received(), []);
    open();
    await taken;
    await until(() => received().length === 4, 'all are sent');
    assert.deepEqual(received(), ['a', 'b', 'c', 'd']);
  });

  it('wait for the next sign of life if the call of another process gets no answer', async () => {
    await queue('a', 'b');
    const heal = world.simulator.fail('hang', { chipid, acts: true, path: 'push', times: 1 });
    world.simulator.upload(chipid, 'awake');
    await until(() => senders[0].ends.has('a'), 'the first has ended');
    heal();
    assert.equal(senders[0].ends.get('a'), 'TIMEOUT');
    await waits(1);
    assert.deepEqual(received(), ['a']);
    // A sign of life does not count if it comes before the other process has learned of the failure.
    await until(() => {
      world.simulator.upload(chipid, 'awake');
      return comesToHold(() => received().length === 2, 5000);
    }, 'the second is sent');
  });

  it('are cancelled and replaced from any process', async () => {
    await queue('a', 'b', 'c');
    const [one, two] = senders;
    const [first] = await two.process.client.waiting.list(chipid);
    assert.equal(
      await two.process.client.waiting.cancel({
        ids: [(await one.process.client.waiting.list())[0]!.id],
      }),
      1,
    );
    assert.ok(first);
    await until(() => one.ends.get('a') === 'CANCELLED', 'its caller knows');
    await waits(2);
    assert.equal(await one.process.client.waiting.cancel({ all: true }, { node: 'other' }), 0);
    void one.send('newest', chipid, { replace: true });
    await until(() => one.ends.has('c') && two.ends.has('b'), 'both are replaced');
    assert.deepEqual([one.ends.get('c'), two.ends.get('b')], ['CANCELLED', 'CANCELLED']);
    await waits(1);
    world.simulator.upload(chipid, 'awake');
    await until(() => received().length === 1, 'it is sent');
    assert.deepEqual(received(), ['newest']);
  });

  it('whose node no process has end in time, can be cancelled, and are not listed once expired', async () => {
    const [dying, other] = senders;
    const { client, faults, member } = other.process;
    await queue('a', 'of the other');
    void dying.send('b', chipid);
    void dying.send('expires', chipid, { expires: 4000 });
    await waits(4);
    await dying.process.kill();
    await until(() => !member.members.includes(dying.process.member.member), 'gone');
    // It has no node that takes them over.
    await until(async () => (await other.waiting()) === 3, 'one has expired');
    const last = (await client.waiting.list(chipid)).at(-1);
    assert.ok(last);
    assert.equal(await client.waiting.cancel({ ids: [last.id] }), 1);
    assert.equal(await other.waiting(), 2);
    const left = endLeftCalls(clusterOf(member), 1000);
    atEnd(() => left.close());
    await until(async () => (await world.store.calls.list()).length === 1, 'they have ended');
    const ended = /^CANCELLED: no process has the node n any more\. Its waiting command to device/;
    assert.ok(faults.some((fault) => ended.test(fault)));
    world.simulator.upload(chipid, 'awake');
    await until(() => other.ends.has('of the other'), 'what came after them is sent');
    assert.deepEqual(received(), ['of the other']);
  });

  it('are a hundred to a device in all processes together', async () => {
    const [one, two] = senders;
    for (let n = 0; n < 100; n++) void senders[n % 2]!.send(`${n}`, chipid);
    await waits(100);
    await one.send('too many', chipid);
    await two.send('too many', chipid);
    assert.deepEqual(
      [one, two].map(({ ends }) => ends.get('too many')),
      ['QUEUE_FULL', 'QUEUE_FULL'],
    );
  });

  it('of a process that was held up are not sent by it if another one has taken them over', async () => {
    const [one, two] = senders;
    void one.send('a', chipid);
    await waits(1);
    const key = (await redisCli(redis.port, 'KEYS', '*callers')).trim();
    const [id = ''] = (await redisCli(redis.port, 'HKEYS', key)).split('\n');
    await redisCli(redis.port, 'HSET', key, id, two.process.member.member);
    world.simulator.upload(chipid, 'awake');
    // It is not its turn any more.
    assert.equal((await two.take()).length, 1);
    await until(() => {
      world.simulator.upload(chipid, 'awake');
      return two.ends.get('a') === 'OK';
    }, 'the other one has sent it');
    assert.deepEqual(received(), ['a']);
  });

  it('are not sent, and do not wait, while the engine cannot be reached; those before wait on', async () => {
    const [one, two] = senders;
    void one.send('a', chipid);
    await waits(1);
    redis.stop();
    // Whether the engine has it is not known before that answers again.
    void two.send('b', chipid);
    const isCut = (error: unknown): boolean => error instanceof StoreError && !error.uncertain;
    const { calls } = world.stores[1]!;
    await until(
      () => calls.turn('two', chipid, false).then(() => false, isCut),
      'the connection counts as lost',
    );
    await two.send('c', chipid);
    assert.deepEqual([...two.ends], [['c', 'UNREACHABLE']]);
    redis.cont();
    await until(() => world.all.every(({ member }) => member.state === 'member'), 'it is back');
    await until(() => {
      world.simulator.upload(chipid, 'awake');
      return one.ends.has('a') && two.ends.has('b');
    }, 'both are sent');
    assert.deepEqual([one.ends.get('a'), two.ends.get('b')], ['OK', 'OK']);
    assert.deepEqual(received(), ['a', 'b']);
  });

  /** The process that has sent `a` dies without having ended it, and the other one sends it. */
  async function takenOver(): Promise<void> {
    const [dying, other] = senders;
    assert.equal(dying.ends.get('a'), undefined);
    await dying.process.kill();
    const gone = dying.process.member.member;
    await until(() => !other.process.member.members.includes(gone), 'gone');
    await until(async () => (await other.take()).length > 0, 'its calls are taken over');
    await until(() => {
      world.simulator.upload(chipid, 'awake');
      return received().includes('a');
    }, 'it is sent');
  }

  /** Sends `a`, which the engine gets; its answer does not come while it is waited for. */
  async function sendUnanswered(): Promise<void> {
    const [one, two] = senders;
    // The engine knows the script by then.
    void two.send('before', chipid);
    await waits(1);
    const [{ calls }, other] = world.stores as [Store, Store];
    const next = (['add', 'remove'] as const).map((name) => mock.method(calls, name));
    link.isDeaf = true;
    void one.send('a', chipid);
    await until(async () => (await other.calls.list()).length === 2, 'it has arrived');
    await until(
      () => next.reduce((sum, each) => sum + each.mock.callCount(), 0) > 1,
      'the answer is waited for no more',
    );
  }

  it('have not ended as not sent if the engine has them, although its answer does not come', async () => {
    await sendUnanswered();
    await takenOver();
    assert.deepEqual(received(), ['before', 'a']);
  });

  it('wait although the answer of the engine comes late, and are sent once', async () => {
    const [one] = senders;
    await sendUnanswered();
    link.isDeaf = false;
    await until(async () => (await one.waiting().catch(() => 0)) === 2, 'both wait');
    await until(() => {
      world.simulator.upload(chipid, 'awake');
      return one.ends.has('a');
    }, 'it is sent');
    assert.deepEqual([received(), one.ends.get('a')], [['before', 'a'], 'OK']);
  });

  it('are sent once if another process has taken them over before the answer of the engine comes', async () => {
    const [one, two] = senders;
    await sendUnanswered();
    link.isHeld = true;
    const { member } = two.process.member;
    await until(() => two.process.member.members.join() === member, 'the first counts as gone');
    await until(async () => (await two.take()).length > 0, 'its call is taken over');
    await until(() => {
      world.simulator.upload(chipid, 'awake');
      return two.ends.has('a');
    }, 'it is sent');
    link.isHeld = link.isDeaf = false;
    await until(() => one.ends.has('a'), 'the first process knows');
    assert.deepEqual([one.ends.get('a'), two.ends.get('a')], ['moved', 'OK']);
    assert.equal(await two.waiting(), 0);
    assert.deepEqual(received(), ['before', 'a']);
  });

  it('have not ended as not sent if another process would go on with them, since no mark can be written', async () => {
    const [one] = senders;
    void one.send('a', chipid);
    await waits(1);
    const { calls } = world.stores[0]!;
    const fails = (): Promise<never> => Promise.reject(new StoreError('No answer.', true));
    const next = (['mark', 'remove'] as const).map((name) => mock.method(calls, name, fails));
    world.simulator.upload(chipid, 'awake');
    await until(
      () => next.reduce((sum, each) => sum + each.mock.callCount(), 0) > 1,
      'it could not begin',
    );
    await takenOver();
    assert.deepEqual(received(), ['a']);
  });

  it('are put back into an engine that has lost them', async () => {
    await queue('a', 'b');
    const { port } = redis;
    await redis.end();
    redis = await startRedis({ port });
    await until(async () => {
      const listed = await senders[0].waiting().catch(() => 0);
      return listed === 2;
    }, 'both are there again');
    await until(() => {
      world.simulator.upload(chipid, 'awake');
      return received().length === 2;
    }, 'both are sent');
    assert.deepEqual(received(), ['a', 'b']);
  });
});
