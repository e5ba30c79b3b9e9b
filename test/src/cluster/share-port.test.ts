import assert from 'node:assert/strict';
import { Engine } from '../../../src/cluster/engine';
import { keysOf, WRITE } from '../../../src/cluster/scripts';
import { SharePort, type Hold } from '../../../src/cluster/share-port';
import { Store } from '../../../src/store/store';
import { atEnd } from '../../tooling/servers/at-end';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { until } from '../../tooling/until';
import { describeOnRedis } from '../../support/redis';

const LIMIT = 300;
const keys = keysOf('1');

describeOnRedis('the entries of a share', () => {
  let redis: RedisProcess;
  let engine: Engine;
  before(async () => {
    redis = await startRedis();
    engine = await Engine.open({ url: redis.url });
    await until(isReady);
  });
  after(async () => {
    engine.close();
    await redis.end();
  });
  beforeEach(() => engine.call(LIMIT, 'FLUSHALL'));

  const isReady = (): Promise<boolean> =>
    engine.call(LIMIT, 'PING').then(
      () => true,
      () => false,
    );
  const belongsTo = (member: string, epoch: number): Promise<unknown> =>
    engine.call(LIMIT, 'HSET', keys.shares, '3', `${epoch} ${member}`);
  const kept = async (): Promise<Record<string, string>> => {
    const pairs = (await engine.call(LIMIT, 'HGETALL', keys.share(3))) as string[];
    const all: Record<string, string> = {};
    for (let at = 0; at < pairs.length; at += 2) all[pairs[at] ?? ''] = pairs[at + 1] ?? '';
    return all;
  };
  function portOf(hold: Omit<Hold, 'share'>, replicas = 0, over: Engine = engine) {
    const state = { refusals: 0 };
    const port = new SharePort({
      ...{ engine: over, keys, hold: { share: 3, ...hold } },
      limit: () => LIMIT,
      replicas: () => replicas,
      now: () => performance.now(),
      onRefused: () => state.refusals++,
    });
    return { port, state };
  }

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
      await assert.rejects(port.write('pin', new Map([['pin:1:5', 1]])), /another process/);
      assert.equal(state.refusals, 2);
    }
    assert.deepEqual(await kept(), {});
  });

  it('are not changed by a write that comes late, over an old connection', async () => {
    await belongsTo('a', 1);
    const { port } = portOf({ member: 'a', epoch: 1 });
    await port.write('pin', new Map([['pin:1:5', 1]]));
    await port.write('pin', new Map([['pin:1:5', 2]]));
    const args = [3, 1, 'a', 1, 0, 'pin:1:5', '1'];
    assert.equal(await engine.run(LIMIT, WRITE, [keys.shares, keys.share(3)], args), 1);
    assert.equal((await kept())['pin:1:5'], '2');
  });

  it('are written anew once the engine has lost them, and nothing else is left', async () => {
    await belongsTo('a', 1);
    const { port } = portOf({ member: 'a', epoch: 1 });
    await port.write(
      'pin',
      new Map([
        ['pin:1:5', 1],
        ['pin:1:6', 1],
      ] as const),
    );
    await port.write('pin', new Map([['pin:1:6', undefined]]));
    await engine.call(LIMIT, 'FLUSHALL');
    await belongsTo('a', 1);
    // An old copy may have what was removed since.
    await engine.call(LIMIT, 'HSET', keys.share(3), 'pin:1:6', '1', '~', '1 1');
    assert.equal(await port.writeAnew(), true);
    const { '~': mark, ...entries } = await kept();
    assert.deepEqual(entries, { 'pin:1:5': '1' });
    assert.match(mark ?? '', /^1 \d+$/);
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

  it('are stalled until each kind is written, whatever becomes of the others', async () => {
    await belongsTo('a', 1);
    let isFailing = true;
    const over = {
      run: (...[limit, script, names, args]: Parameters<Engine['run']>) =>
        isFailing && args.includes('position:n:1')
          ? Promise.reject(new Error('broken off'))
          : engine.run(limit, script, names, args),
    } as Engine;
    const { port } = portOf({ member: 'a', epoch: 1 }, 0, over);
    const position = new Map([['position:n:1', 1]]);
    await assert.rejects(port.write('position', position), /broken off/);
    assert.equal(await port.write('pin', new Map([['pin:1:5', 1]])), true);
    assert.ok(port.stalledSince < Infinity);
    isFailing = false;
    assert.equal(await port.write('position', position), true);
    assert.equal(port.stalledSince, Infinity);
  });

  it('that are malformed cost only themselves', async () => {
    await belongsTo('a', 1);
    await engine.call(LIMIT, 'HSET', keys.share(3), 'pin:1:5', '{', 'pin:1:6', '1', 'x', '1');
    const store = new Store(portOf({ member: 'a', epoch: 1 }).port);
    await store.loaded;
    assert.deepEqual(store.list('pin:'), [['pin:1:6', 1]]);
  });

  it('that must not be forgotten wait for a replica once they are written', async () => {
    const replica = await startRedis({ config: [`replicaof 127.0.0.1 ${redis.port}`] });
    atEnd(() => replica.end());
    await until(async () =>
      String(await engine.call(LIMIT, 'INFO', 'replication')).includes('state=online'),
    );
    await belongsTo('a', 1);
    const { port } = portOf({ member: 'a', epoch: 1 }, 1);
    const reader = await Engine.open({ url: replica.url });
    atEnd(() => reader.close());
    for (let n = 0; n < 50; n++) await port.write('command', new Map([['command:1:a', n]]));
    // What nobody waits for is not among them.
    await port.write('position', new Map([['position:a:1', 1]]));
    const stats = String(await engine.call(LIMIT, 'INFO', 'commandstats'));
    assert.match(stats, /cmdstat_wait:calls=50,/);
    const at = (): Promise<unknown> =>
      reader.call(LIMIT, 'HGET', keys.share(3), 'command:1:a').catch(() => undefined);
    await until(async () => (await at()) === '49', 'the replica has the last one');
  });
});
