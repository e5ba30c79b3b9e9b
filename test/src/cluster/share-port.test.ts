import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Engine } from '../../../src/cluster/engine';
import { keysOf, WRITE, type BeatAnswer } from '../../../src/cluster/scripts';
import { factsPort, SharePort, type PortDeps } from '../../../src/cluster/share-port';
import { Store } from '../../../src/store/store';
import { atEnd } from '../../tooling/servers/at-end';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { until } from '../../tooling/until';
import { describeOnRedis, openEngine } from '../../support/redis';

const LIMIT = 300;
const keys = keysOf('1');

describeOnRedis('the entries of a share', () => {
  let redis: RedisProcess;
  let engine: Engine;
  before(async () => {
    // Otherwise a replica gets a first copy after five seconds.
    redis = await startRedis({ config: ['repl-diskless-sync-delay 0'] });
    engine = await openEngine({ url: redis.url });
  });
  after(async () => {
    engine.close();
    await redis.end();
  });
  beforeEach(() => engine.call(LIMIT, 'FLUSHALL'));

  const belongsTo = (member: string, epoch: number): Promise<unknown> =>
    engine.call(LIMIT, 'HSET', keys.shares, '3', `${epoch} ${member}`);
  const kept = async (): Promise<Record<string, string>> => {
    const pairs = (await engine.call(LIMIT, 'HGETALL', keys.share(3))) as string[];
    const all: Record<string, string> = {};
    for (let at = 0; at < pairs.length; at += 2) all[pairs[at] ?? ''] = pairs[at + 1] ?? '';
    return all;
  };
  interface Claim {
    readonly member: string;
    readonly epoch: number;
  }
  const depsOf = (id: string, beatNow = (): void => undefined, replicas = 0): PortDeps => ({
    ...{ engine, keys },
    shares: { id, limit: LIMIT, beatNow, answer: { replicas } as BeatAnswer },
  });
  function portOf({ member, epoch }: Claim, replicas = 0) {
    const state = { refusals: 0 };
    const deps = depsOf(member, () => state.refusals++, replicas);
    return { port: new SharePort(deps, 3, epoch), state };
  }
  const write = (port: SharePort, ...changes: [key: string, value: unknown][]): Promise<boolean> =>
    port.write('', new Map(changes), () => new Map(), false);

  it('are what its owner has written, also for the next owner', async () => {
    await belongsTo('a', 1);
    const first = new Store(portOf({ member: 'a', epoch: 1 }).port);
    await first.loaded;
    assert.equal(await first.set('pin:1:5', { wanted: 1 }), true);
    first.update('position:n:1', [1, 'ü']);
    assert.equal(await first.set('pin:1:6', { wanted: 0 }), true);
    assert.equal(await first.set('pin:1:6', undefined), true);
    await first.close();
    assert.deepEqual(Object.keys(await kept()).toSorted(), ['pin:1:5', 'position:n:1', '~']);
    await belongsTo('b', 2);
    const second = new Store(portOf({ member: 'b', epoch: 2 }).port);
    await second.loaded;
    assert.deepEqual(second.get('pin:1:5'), { wanted: 1 });
    assert.deepEqual(second.get('position:n:1'), [1, 'ü']);
  });

  it('are written anew by their owner if an engine that is full has evicted them', async () => {
    await belongsTo('a', 1);
    const store = new Store(portOf({ member: 'a', epoch: 1 }).port);
    await store.loaded;
    await store.set('position:n:1', 7);
    await store.set('pin:1:5', 1);
    await store.set('pin:1:6', 0);
    await engine.call(LIMIT, 'DEL', keys.share(3));
    assert.equal(await store.set('pin:1:6', undefined), true);
    await engine.call(LIMIT, 'DEL', keys.share(3));
    assert.equal(await store.set('event:n:1', 2), true);
    const { '~': _, ...entries } = await kept();
    assert.deepEqual(entries, { 'position:n:1': '7', 'pin:1:5': '1', 'event:n:1': '2' });
    await store.close();
  });

  it('are neither read nor written by another process, or under an earlier claim', async () => {
    await belongsTo('b', 2);
    for (const hold of [
      { member: 'a', epoch: 1 },
      { member: 'a', epoch: 2 },
      { member: 'b', epoch: 1 },
    ]) {
      const { port, state } = portOf(hold);
      assert.equal(await port.load(), undefined);
      assert.equal(port.isRefused, true);
      await assert.rejects(write(port, ['pin:1:5', 1]), /another process/);
      assert.equal(state.refusals, 2);
    }
    assert.deepEqual(await kept(), {});
  });

  it('are not changed by a write that comes late, over an old connection', async () => {
    await belongsTo('a', 1);
    const { port } = portOf({ member: 'a', epoch: 1 });
    await write(port, ['pin:1:5', 1]);
    await write(port, ['pin:1:5', 2]);
    const args = [3, 1, 'a', 1, 0, 'pin:1:5', '1'];
    assert.equal(await engine.run(LIMIT, WRITE, [keys.shares, keys.share(3)], args), 1);
    assert.equal((await kept())['pin:1:5'], '2');
  });

  it('are written anew once the engine has lost them, and nothing else is left', async () => {
    await belongsTo('a', 1);
    const store = new Store(portOf({ member: 'a', epoch: 1 }).port);
    await Promise.all([store.set('pin:1:5', 1), store.set('position:n:1', [2])]);
    await store.set('pin:1:6', 1);
    for (const pins of [1, 0]) {
      if (pins === 0)
        await Promise.all([store.set('pin:1:5', undefined), store.set('position:n:1', undefined)]);
      await store.set('pin:1:6', undefined);
      await engine.call(LIMIT, 'FLUSHALL');
      await belongsTo('a', 1);
      // An old copy may have what was removed since.
      await engine.call(LIMIT, 'HSET', keys.share(3), 'pin:1:6', '1', '~', '1 1');
      store.rewrite();
      const expected = pins === 0 ? {} : { 'pin:1:5': '1', 'position:n:1': '[2]' };
      await until(async () => {
        const { '~': mark, ...entries } = await kept();
        return mark !== '1 1' && isDeepStrictEqual(entries, expected);
      }, 'it is written anew');
    }
  });

  it('are written anew after what is being written, and with what comes then', async () => {
    await belongsTo('a', 1);
    const store = new Store(portOf({ member: 'a', epoch: 1 }).port);
    await store.set('pin:1:5', 1);
    const first = store.set('pin:1:6', 1);
    await new Promise((resolve) => setImmediate(resolve));
    store.rewrite();
    assert.equal(await first, true);
    assert.deepEqual(await Promise.all([store.set('pin:1:7', 1), store.set('pin:1:8', 1)]), [
      true,
      true,
    ]);
    const { '~': mark, ...entries } = await kept();
    assert.equal(Object.keys(entries).length, 4);
    assert.match(mark ?? '', /^1 \d$/);
  });

  it('are written once a hung engine goes on, in their last state; the wait is limited', async () => {
    await belongsTo('a', 1);
    const { port } = portOf({ member: 'a', epoch: 1 });
    const store = new Store(port);
    await store.loaded;
    await store.set('pin:1:5', 0);
    assert.equal(port.stalledSince, Infinity);
    redis.stop();
    assert.equal(await store.set('pin:1:5', 1), false);
    assert.ok(port.stalledSince < performance.now());
    void store.set('pin:1:5', 2);
    redis.cont();
    await until(async () => (await kept().catch(() => undefined))?.['pin:1:5'] === '2');
    await until(() => port.stalledSince === Infinity);
    await store.close();
  });

  it('are stalled until all is written that was changed meanwhile', async () => {
    await belongsTo('a', 1);
    const { port } = portOf({ member: 'a', epoch: 1 });
    const store = new Store(port);
    await store.set('pin:1:5', 0);
    redis.stop();
    assert.equal(await store.set('position:n:1', 1), false);
    redis.cont();
    const since = port.stalledSince;
    assert.ok(since < Infinity);
    assert.ok(!store.isWritten('position:n:1'));
    await until(() => store.set('pin:1:5', 1));
    assert.equal(port.stalledSince, Infinity);
    assert.deepEqual([(await kept())['position:n:1'], (await kept())['pin:1:5']], ['1', '1']);
  });

  it('that are malformed cost only themselves', async () => {
    await belongsTo('a', 1);
    await engine.call(LIMIT, 'HSET', keys.share(3), 'pin:1:5', '{', 'pin:1:6', '1', 'x', '1');
    const store = new Store(portOf({ member: 'a', epoch: 1 }).port);
    await store.loaded;
    assert.deepEqual(store.list('pin:'), [['pin:1:6', 1]]);
  });

  it('about the whole application are in all processes, whoever has learned them', async () => {
    const facts = new Store(factsPort(depsOf('a')));
    assert.equal(await facts.set('fact:history', { zone: 0 }), true);
    assert.equal(await facts.set('fact:gone-n', 1), true);
    assert.equal(await facts.set('fact:gone-n', undefined), true);
    await engine.call(LIMIT, 'HSET', keys.meta, 'generation', '5');
    const others = new Store(factsPort(depsOf('b')));
    await others.loaded;
    assert.deepEqual(others.list('fact:'), [['fact:history', { zone: 0 }]]);
    await engine.call(LIMIT, 'FLUSHALL');
    others.rewrite();
    const isThere = async (): Promise<boolean> =>
      (await engine.call(LIMIT, 'HGET', keys.meta, 'fact:history')) === '{"zone":0}';
    await until(isThere, 'it is written anew');
  });

  it('are read however many they are, also by who hears others', async () => {
    await belongsTo('a', 1);
    const { port } = portOf({ member: 'a', epoch: 1 });
    await until(() => engine.isSubscribed);
    const text = 'x'.repeat(2 ** 20);
    // An engine sends who subscribes 32 MB at most.
    for (let n = 0; n < 40; n++)
      await engine.call(10_000, 'HSET', keys.share(3), `command:1:${n}`, JSON.stringify(text));
    const store = new Store(
      new SharePort({ ...port.deps, shares: { ...port.deps.shares, limit: 10_000 } }, 3, 1),
    );
    await store.loaded;
    assert.equal(store.list('command:').length, 40);
    await engine.call(10_000, 'FLUSHALL');
  });

  it('that must not be forgotten wait for a replica once they are written', async () => {
    const replica = await startRedis({ config: [`replicaof 127.0.0.1 ${redis.port}`] });
    atEnd(() => replica.end());
    await until(async () =>
      String(await engine.call(LIMIT, 'INFO', 'replication')).includes('state=online'),
    );
    await belongsTo('a', 1);
    const { port } = portOf({ member: 'a', epoch: 1 }, 1);
    const reader = await openEngine({ url: replica.url });
    atEnd(() => reader.close());
    for (let n = 0; n < 50; n++) await write(port, ['command:1:a', n]);
    // What nobody waits for is not among them.
    await write(port, ['position:a:1', 1]);
    const stats = String(await engine.call(LIMIT, 'INFO', 'commandstats'));
    assert.match(stats, /cmdstat_wait:calls=50,/);
    const at = (): Promise<unknown> =>
      reader.call(LIMIT, 'HGET', keys.share(3), 'command:1:a').catch(() => undefined);
    await until(async () => (await at()) === '49', 'the replica has the last one');
  });
});
