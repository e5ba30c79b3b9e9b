import assert from 'node:assert/strict';
import type { Engine } from '../../../src/cluster/engine';
import { BEAT, keysOf, SHARES, type Beat, type BeatAnswer } from '../../../src/cluster/scripts';
import { Shares, type RULES, type ShareHolder } from '../../../src/cluster/shares';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { until } from '../../tooling/until';
import { describeOnRedis, openEngine } from '../../support/redis';
import { World } from './virtual-world';

const HOURS = 3_600_000;

const RUNS = process.env['FUZZ_RUNS'];
/** Of both. A usual run is the same each time, and one that fails can be repeated. */
const SEED = Number(process.env['FUZZ_SEED'] ?? (RUNS === undefined ? 1 : Date.now() % 1e9));
const TIMES = Math.max(1, Number(RUNS) || 1);

let engine: Engine;

/** A Redis for the tests of a group, and a connection to it. */
function useEngine(): void {
  let redis: RedisProcess;
  before(async () => {
    redis = await startRedis();
    engine = await openEngine({ url: redis.url });
  });
  after(async () => {
    engine.close();
    await redis.end();
  });
}

describeOnRedis('shares, in virtual time over the real scripts', function () {
  this.timeout(240_000 * TIMES);
  useEngine();

  it(`belong to one process at a time, and each to somebody, whatever fails (seed ${SEED})`, async () => {
    const world = new World(engine, SEED);
    await world.run(TIMES * 2 * HOURS);
    assert.equal(world.overlap, undefined);
    assert.ok(world.faults > 200 && world.setBacks > 10, `${world.faults} faults`);
  });

  const changes: readonly [string, Partial<typeof RULES>][] = [
    ['may act for 1.3 leases', { validity: 1.3 }],
    ['may take shares at once after the engine has lost its data', { settled: 0 }],
    ['may act at once after it was away, whatever the engine has lost', { lapsed: 0 }],
  ];
  for (const [what, change] of changes)
    it(`belong to two at a time within two hours if a process ${what} (seed ${SEED})`, async () => {
      const found = async (seed: number): Promise<boolean> => {
        const world = new World(engine, seed, change);
        await world.run(2 * HOURS);
        return world.overlap !== undefined;
      };
      // One in some hundred seeds needs longer.
      assert.ok((await found(SEED)) || (await found(SEED + 1)));
    });
});

/** A process with the id a, to which nothing happens by itself. */
const holder = (beat: ShareHolder['beat']): ShareHolder => ({
  ...{ id: 'a', lease: 1000, wants: () => true, settings: '{}', beat, random: () => 'one' },
  ...{ now: () => performance.now(), wallClock: Date.now, schedule: () => () => undefined },
  ...{ onGained: () => undefined, onLost: () => undefined, onAnew: () => undefined },
  ...{ onBeat: () => undefined, giveUp: () => Promise.resolve() },
});

describe('a process that leaves', () => {
  it('waits for the last write also of shares that it has begun to give up before', async () => {
    let quota = SHARES;
    const left: string[] = [];
    const written = new Map<number, () => void>();
    let isOver = false;
    const beat = (request: Beat): Promise<BeatAnswer> => {
      if (request.leave) left.push(isOver ? 'after the last write' : 'too early');
      const held = Array.from({ length: SHARES }, (_, share) => [share, [1, 'a']] as const);
      return Promise.resolve({
        ...{ generation: 'one', settled: true, quota, time: 0, replicas: 0 },
        ...{ members: { a: [request.number, 1000, 1, 1] as const } },
        shares: Object.fromEntries(held),
      });
    };
    const shares = new Shares({
      ...holder(beat),
      giveUp: (share) => new Promise((resolve) => written.set(share, resolve)),
    });
    shares.beatNow();
    await until(() => shares.held.length === SHARES, 'it has all');
    quota = SHARES / 2;
    shares.beatNow();
    await until(() => written.size === SHARES / 2, 'it gives up half');
    const before = [...written.values()];
    const leaving = shares.leave();
    await until(() => written.size === SHARES, 'it gives up the rest');
    for (const resolve of [...written.values()].slice(before.length)) resolve();
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    isOver = true;
    for (const resolve of before) resolve();
    await leaving;
    assert.deepEqual(left, ['after the last write']);
  });
});

describeOnRedis('a beat', () => {
  const { meta, members, shares, all } = keysOf('beats');
  useEngine();
  beforeEach(async () => {
    await engine.call(1000, 'FLUSHALL');
    // The generation is settled as of the second beat.
    await beat('a', 1);
    await beat('a', 2, { settled: 'random' });
  });

  const beat = async (
    member: string,
    number: number,
    changes: Partial<Beat> = {},
  ): Promise<BeatAnswer> => {
    const request: Beat = {
      ...{ member, number, lease: 1000, wants: true, takes: true, leave: false },
      ...{ held: [], top: 0, dead: [], random: 'random', settings: 'one', ...changes },
    };
    const answer = await engine.run(
      1000,
      BEAT,
      [meta, members, shares],
      [JSON.stringify(request), all],
    );
    return JSON.parse(String(answer)) as BeatAnswer;
  };
  const ownedBy = (member: string, answer: BeatAnswer): [share: number, epoch: number][] =>
    Object.entries(answer.shares).flatMap(([share, [epoch, owner]]) =>
      owner === member ? [[Number(share), epoch] as [number, number]] : [],
    );

  it('that comes late, after a newer one, changes nothing', async () => {
    const held = ownedBy('a', await beat('a', 4));
    assert.equal(held.length, SHARES);
    await assert.rejects(beat('a', 3), /LATE/);
    await assert.rejects(beat('a', 4), /LATE/);
    assert.deepEqual(ownedBy('a', await beat('b', 1)), held);
  });

  it('gives shares under new epochs, also those whose grant was lost on its way', async () => {
    const lost = ownedBy('a', await beat('a', 3));
    const again = ownedBy('a', await beat('a', 4));
    const top = Math.max(...lost.map(([, epoch]) => epoch));
    assert.ok(again.every(([, epoch]) => epoch > top));
    const higher = ownedBy('a', await beat('a', 5, { top: 5000 }));
    assert.ok(higher.every(([, epoch]) => epoch > 5000));
    assert.deepEqual(ownedBy('a', await beat('a', 6, { held: higher })), higher);
  });

  it('removes a member only if that has not beaten since', async () => {
    const held = ownedBy('a', await beat('a', 3));
    await beat('a', 4, { held });
    const alive = await beat('b', 1, { dead: [['a', 3]] });
    assert.deepEqual([ownedBy('a', alive).length, ownedBy('b', alive).length], [SHARES, 0]);
    const gone = await beat('b', 2, { dead: [['a', 4]] });
    assert.deepEqual([ownedBy('a', gone).length, ownedBy('b', gone).length], [0, SHARES]);
    assert.deepEqual(ownedBy('a', await beat('a', 5, { held })), []);
  });

  it('puts back what the engine has lost, and gives and removes nothing meanwhile', async () => {
    const held = ownedBy('a', await beat('a', 3));
    await engine.call(1000, 'FLUSHALL');
    const fresh = await beat('b', 1, { random: 'next', dead: [['a', 3]] });
    assert.deepEqual([fresh.settled, ownedBy('b', fresh)], [false, []]);
    const back = await beat('a', 4, { held, settled: 'random' });
    assert.deepEqual([back.settled, back.generation, ownedBy('a', back)], [false, 'next', held]);
    // Of two owners the later one counts.
    const later = held.map(([share, epoch]) => [share, epoch + 100] as const);
    assert.deepEqual(ownedBy('c', await beat('c', 1, { held: later })), later);
    assert.deepEqual(ownedBy('a', await beat('a', 5, { held })), []);
  });

  it('gives no share to a member with other settings than those that have some, and says which', async () => {
    const held = ownedBy('a', await beat('a', 3));
    const settings = 'other';
    const other = await beat('b', 1, { settings });
    assert.deepEqual([other.settings, ownedBy('b', other), other.quota], ['one', [], 0]);
    const own = await beat('a', 4, { held });
    assert.deepEqual([own.settings, own.quota], [undefined, SHARES]);
    // Once nobody has them any more, others count.
    await beat('a', 5, { held, leave: true });
    const alone = await beat('b', 2, { settings });
    assert.deepEqual([alone.settings, ownedBy('b', alone).length], [undefined, SHARES]);
    assert.equal((await beat('c', 1)).settings, settings);
  });

  it('leaves the shares where they are if an engine that has lost all hears first from one with other settings', async () => {
    const held = ownedBy('a', await beat('a', 3));
    const settings = 'other';
    await beat('b', 1, { settings });
    await engine.call(1000, 'FLUSHALL');
    await beat('b', 2, { settings, random: 'next' });
    const back = await beat('a', 4, { held });
    assert.deepEqual([back.settings, ownedBy('a', back)], [undefined, held]);
    assert.equal((await beat('b', 3, { settings })).settings, 'one');
  });

  it('divides the shares as evenly as they can be', async () => {
    const held = ownedBy('a', await beat('a', 3));
    for (const member of 'bcdefghi') await beat(member, 1);
    assert.equal((await beat('a', 4, { held })).quota, 8);
    assert.equal((await beat('i', 2)).quota, 7);
    assert.equal((await beat('i', 3, { wants: false })).quota, 0);
  });

  it('leaves the others what they have if one ends and another one begins', async () => {
    // It gives up what is too much.
    const held = ownedBy('a', await beat('a', 3)).slice(0, 22);
    for (const member of 'cd') await beat(member, 1);
    assert.equal((await beat('a', 4, { held })).quota, 22);
    assert.equal(ownedBy('c', await beat('c', 2)).length, 21);
    assert.equal(ownedBy('d', await beat('d', 2)).length, 21);
    await beat('d', 3, { leave: true });
    // Its id comes first.
    assert.equal(ownedBy('0', await beat('0', 1)).length, 21);
    assert.equal((await beat('a', 5, { held })).quota, 22);
  });
});
