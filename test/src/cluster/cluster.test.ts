import assert from 'node:assert/strict';
import { Cluster } from '../../../src/cluster/cluster';
import { HeldSlots } from '../../../src/cluster/slots';
import { MemoryStore } from './memory-store';
import { Membership } from '../../../src/cluster/membership';
import { isPartition, PARTITIONS } from '../../../src/cluster/slots';
import { StoreError, type BeatReply } from '../../../src/cluster/store';
import { manual } from '../support/manual';
import { Process, VirtualTime } from './virtual-time';
import { LEASE } from './world';

/** An empty store in virtual time, and members that join it. */
function emptyStore() {
  const time = new VirtualTime();
  const store = new MemoryStore(() => time.now);
  /** Joins without using any device. */
  const join = (member: string, lease = 5): Cluster => {
    return new Cluster({ store, lease, member, clock: new Process(time, 1).clock });
  };
  const start = (member: string, lease?: number): Cluster => {
    const cluster = join(member, lease);
    cluster.claims.use('listens');
    return cluster;
  };
  return { time, store, join, start };
}

describe('a cluster', () => {
  it('restores the positions that it knows in a store that lost them, with or without new uploads', async () => {
    const { time, store, start } = emptyStore();
    const cluster = start('m');
    await time.runTo(2 * LEASE);
    cluster.positions.save('1', 'here');
    await time.runTo(time.now + 1000);
    store.wipe();
    await time.runTo(time.now + 2 * LEASE);
    assert.deepEqual(await store.load(['1']), ['here']);
  });

  it('reports why its store cannot be reached, after some time', async () => {
    const { time, store, start } = emptyStore();
    let isAway = true;
    const { beat } = MemoryStore.prototype;
    store.beat = (request) =>
      isAway ? Promise.reject(new StoreError('WRONGPASS.', false)) : beat.call(store, request);
    const cluster = start('m');
    const faults: string[] = [];
    cluster.listen({ onFault: (fault) => faults.push(fault) });
    await time.runTo(1000);
    assert.deepEqual(faults, []);
    await time.runTo(30_000);
    assert.deepEqual(faults, ['The cluster cannot be reached: WRONGPASS.']);
    isAway = false;
    await time.runTo(120_000);
    assert.deepEqual([cluster.state, faults.length], ['member', 1]);
  });

  it('reassigns no slot of a member with a longer lease after a loss before that member can restore it', async () => {
    const { time, store, start } = emptyStore();
    const slow = start('slow', 60);
    const quick = start('quick', 2);
    const chipids = Array.from({ length: 50 }, (_, index) => String(index));
    await time.runTo(200_000);
    const held = chipids.filter((each) => slow.mayEmit(each));
    assert.ok(held.length > 0 && held.length < chipids.length, String(held.length));
    const epochs = held.map((each) => slow.epochOf(each));
    for (const each of held) slow.positions.save(each, 'here');
    await time.runTo(time.now + 1000);
    store.wipe();
    for (const end = time.now + 120_000; time.now < end;) {
      await time.runTo(time.now + 500);
      assert.ok(!chipids.some((each) => slow.mayEmit(each) && quick.mayEmit(each)));
    }
    assert.deepEqual(
      held.map((each) => slow.epochOf(each)),
      epochs,
    );
    assert.deepEqual(
      await store.load(held),
      held.map(() => 'here'),
    );
  });

  it('judges another member by the longer lease of the two, since settings are changed one by one', async () => {
    const { time, start } = emptyStore();
    const slow = start('slow', 60);
    await time.runTo(120_000);
    const quick = start('quick', 2);
    const chipids = Array.from({ length: 50 }, (_, index) => String(index));
    for (let now = 121_000; now < 300_000; now += 1000) {
      await time.runTo(now);
      assert.ok(!chipids.some((each) => slow.mayEmit(each) && quick.mayEmit(each)), `at ${now}`);
    }
    const shares = [slow, quick].map((each) => chipids.filter((id) => each.mayEmit(id)).length);
    assert.ok(
      shares.every((share) => share > 0),
      shares.join(),
    );
  });

  it('writes what its listeners save when they learn that a device moves to another member', async () => {
    const { time, store, start } = emptyStore();
    const first = start('first');
    const chipids = Array.from({ length: 50 }, (_, index) => String(index));
    await time.runTo(2 * LEASE);
    // As a gate does that has let something out in the same turn.
    const leaving = new Set<string>();
    first.listen({
      onShare() {
        for (const each of chipids) {
          if (first.owns(each) || leaving.has(each)) continue;
          leaving.add(each);
          first.positions.save(each, 'last');
        }
      },
    });
    const second = start('second');
    await time.runTo(4 * LEASE);
    const moved = chipids.filter((each) => second.mayEmit(each));
    assert.ok(moved.length > 0);
    assert.deepEqual(
      await store.load(moved),
      moved.map(() => 'last'),
    );
  });

  it('reports why nothing is emitted if positions cannot be written, although beats are answered', async () => {
    const { time, store, start } = emptyStore();
    let isWrong = false;
    const save = store.save.bind(store);
    store.save = (...args) =>
      isWrong ? Promise.reject(new StoreError('Refused: WRONGTYPE.', false, true)) : save(...args);
    const only = start('only');
    const faults: string[] = [];
    only.listen({ onFault: (fault) => faults.push(fault) });
    await time.runTo(2 * LEASE);
    assert.equal(only.state, 'member');
    isWrong = true;
    only.positions.save('1', 'p');
    await time.runTo(3 * LEASE);
    assert.deepEqual([only.state, only.mayEmit('1')], ['awaiting', false]);
    assert.deepEqual(faults, ['The cluster answers, but does not work: Refused: WRONGTYPE.']);
    isWrong = false;
    await time.runTo(4 * LEASE);
    assert.deepEqual([only.state, only.mayEmit('1')], ['member', true]);
    assert.deepEqual(await store.load(['1']), ['p']);
  });

  it('writes everything, leaves and stops acting when it is closed', async () => {
    const { time, store, start } = emptyStore();
    const cluster = start('m');
    await time.runTo(2 * LEASE);
    cluster.positions.save('1', 'last');
    const closed = cluster.close();
    assert.deepEqual([cluster.mayEmit('1'), cluster.state], [false, 'closed']);
    await closed;
    assert.deepEqual(await store.load(['1']), ['last']);
    assert.deepEqual((await store.info()).members, []);
    await time.runTo(time.now + 2 * LEASE);
    assert.deepEqual((await store.info()).members, []);
  });
});

/** How many of these devices each of the members may emit for. */
const sharesOf = (members: readonly Cluster[]): number[] =>
  members.map((cluster) => CHIPIDS.filter((id) => cluster.mayEmit(id)).length);

const CHIPIDS = Array.from({ length: 50 }, (_, index) => String(index));

describe('a cluster in which some processes do not listen', () => {
  async function world() {
    const { time, store, join } = emptyStore();
    const [listening, working] = [join('listening'), join('working')];
    listening.claims.use('listens');
    const ends = [listening, working].map((each) => each.work({ deliver: () => undefined }));
    await time.runTo(3 * LEASE);
    /** How many devices each has, and how many parts of the queue. */
    const shares = async (): Promise<number[][]> => {
      const owners = await store.owners();
      const devices = sharesOf([listening, working]);
      return [listening, working].map(({ member }, index) => {
        const slots = [...owners].filter(([, owner]) => owner === member);
        return [devices[index] ?? 0, slots.filter(([slot]) => isPartition(slot)).length];
      });
    };
    return { time, working, ends, shares };
  }

  it('assigns devices to those that listen, and to others as soon as they do', async () => {
    const { time, working, shares } = await world();
    assert.deepEqual(await shares(), [
      [50, PARTITIONS / 2],
      [0, PARTITIONS / 2],
    ]);
    working.claims.use('listens');
    await time.runTo(time.now + LEASE);
    const [first = [], second = []] = await shares();
    assert.equal(first[0]! + second[0]!, 50);
    assert.ok(first[0]! > 0 && second[0]! > 0);
  });

  it('reassigns the queue within two beats when a process stops working', async () => {
    const { time, ends, shares } = await world();
    ends[0]?.();
    await time.runTo(time.now + (2 * LEASE) / 5 + 100);
    const [[, first], [, second]] = (await shares()) as [number[], number[]];
    assert.deepEqual([first, second], [0, PARTITIONS]);
  });

  it('assigns no devices to one that does nothing with them, or only follows some', async () => {
    const { time, join } = emptyStore();
    const members = [join('listens'), join('follows'), join('idle')] as const;
    members[0].claims.use('listens');
    members[1].claims.use('follows');
    await time.runTo(3 * LEASE);
    assert.deepEqual(sharesOf(members), [50, 0, 0]);
  });

  it('shares the devices among those that follow some while no process listens', async () => {
    const { time, join } = emptyStore();
    const members = [join('one'), join('two'), join('idle')] as const;
    for (const each of members.slice(0, 2)) each.claims.use('follows');
    await time.runTo(3 * LEASE);
    const [one = 0, two = 0, idle] = sharesOf(members);
    assert.ok(one > 0 && two > 0);
    assert.deepEqual([one + two, idle], [50, 0]);
    members[2].claims.use('listens');
    await time.runTo(time.now + 2 * LEASE);
    assert.deepEqual(sharesOf(members), [0, 0, 50]);
  });

  it('moves no device over a deploy, which ends all listeners and begins them anew', async () => {
    const { time, join } = emptyStore();
    const members = [join('one'), join('two')] as const;
    const [end] = members.map((each) => each.claims.use('listens'));
    await time.runTo(3 * LEASE);
    const epochs = (): unknown[] => CHIPIDS.map((id) => members.map((each) => each.epochOf(id)));
    const before = epochs();
    end?.();
    await time.runTo(time.now + LEASE);
    const endAgain = members[0].claims.use('listens');
    await time.runTo(time.now + 5 * LEASE);
    assert.deepEqual(epochs(), before);
    endAgain();
    await time.runTo(time.now + 5 * LEASE);
    assert.deepEqual(sharesOf(members), [0, 50]);
  });
});

describe('a member that holds more than its share', () => {
  it('frees slots only once everything of them is written, and does not act for them meanwhile', async () => {
    const time = new VirtualTime();
    const store = new MemoryStore(() => time.now);
    const { clock } = new Process(time, 1);
    const written = manual();
    const lost: number[] = [];
    const join = (member: string, flush: () => Promise<void>): Membership => {
      const membership = new Membership({
        ...{ store, clock, member, lease: LEASE, claims: () => ['devices'], flush },
        ...{ failed: () => undefined, restore: () => Promise.resolve(false) },
        ...{ gained: () => undefined, ended: () => undefined },
        ...{ validity: () => undefined, replied: () => undefined, lost: (slot) => lost.push(slot) },
      });
      return membership;
    };
    const first = join('a', () => written.promise);
    await time.runTo(2 * LEASE);
    const second = join('b', () => Promise.resolve());
    await time.runTo(4 * LEASE);
    assert.deepEqual([lost.length, lost.some((slot) => first.mayAct(slot))], [128, false]);
    assert.equal(second.slots.holdings.length, 0);
    written.resolve();
    await time.runTo(5 * LEASE);
    assert.equal(second.slots.holdings.length, 128);
  });
});

describe('the slots of a member', () => {
  const reply = (more: Partial<BeatReply>): BeatReply => ({
    ...{ incarnation: 'i', isSettled: true, mine: [], behind: [], members: [] },
    ...{ surplus: { devices: 0, queue: 0 }, ...more },
  });

  it('do not include those from a store that may have gone back in time', () => {
    const slots = new HeldSlots();
    const mine = [{ slot: 1, epoch: 5 }];
    assert.deepEqual(slots.update(reply({ mine, isSettled: false }), true).gained, []);
    assert.deepEqual(slots.update(reply({ mine }), true).gained, [1]);
  });

  it('are used again only if the store has them under the same epoch', () => {
    const slots = new HeldSlots();
    slots.update(reply({ mine: [{ slot: 1, epoch: 5 }] }), true);
    const { behind, lost } = slots.update(reply({ behind: [1], isSettled: false }), true);
    assert.deepEqual([behind, lost, slots.isUsable(1)], [[{ slot: 1, epoch: 5 }], [], false]);
    slots.update(reply({ mine: [{ slot: 1, epoch: 5 }] }), false);
    assert.equal(slots.isUsable(1), false);
    slots.update(reply({ mine: [{ slot: 1, epoch: 5 }] }), true);
    assert.equal(slots.isUsable(1), true);
    const again = slots.update(reply({ mine: [{ slot: 1, epoch: 6 }] }), true);
    assert.deepEqual([again.lost, again.gained, slots.epochOf(1)], [[1], [1], 6]);
  });
});
