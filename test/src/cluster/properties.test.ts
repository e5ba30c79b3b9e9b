import assert from 'node:assert/strict';
import fc from 'fast-check';
import { holds } from '../support/fuzz';
import { LEASE, World } from './world';

const KINDS = [
  'pause',
  'cut',
  'loss',
  'delay',
  'kill',
  'leave',
  'join',
  'step',
  'command',
  'command',
] as const;
const RESETS = ['wipe', 'copy', 'set back', 'all cut'] as const;

type Kind = (typeof KINDS)[number] | (typeof RESETS)[number];

interface Fault {
  /** Tenths of a lease after the one before. */
  after: number;
  kind: Kind;
  member: number;
  /** Tenths of a lease. */
  lasts: number;
}

const faultsOf = (kinds: readonly Kind[], maxLength: number): fc.Arbitrary<Fault[]> =>
  fc.array(
    fc.record({
      after: fc.nat({ max: 15 }),
      kind: fc.constantFrom(...kinds),
      member: fc.nat({ max: 5 }),
      lasts: fc.integer({ min: 1, max: 30 }),
    }),
    { minLength: 1, maxLength },
  );

const TENTH = LEASE / 10;

/** @param spread leases within which members come back that were all cut off */
function apply(world: World, { kind, member: index, lasts }: Fault, spread = 0.6): void {
  const { alive, time } = world;
  const member = alive[index % alive.length];
  if (!member) return;
  const { line, process } = member;
  const ms = lasts * TENTH;
  const during = (change: object, back: object): void => {
    Object.assign(line, change);
    time.after(ms, () => Object.assign(line, back));
  };
  if (kind === 'pause') process.pause(ms);
  else if (kind === 'cut') during({ isCut: true }, { isCut: false });
  else if (kind === 'loss') during({ loss: 0.4 }, { loss: 0 });
  else if (kind === 'delay') during({ delay: 2 * LEASE }, { delay: 20 });
  else if (kind === 'kill' && alive.length > 1) process.isDead = true;
  else if (kind === 'leave' && alive.length > 1) member.leave();
  else if (kind === 'join' && alive.length < 4) world.join();
  else if (kind === 'step') {
    // Its clock is set while it is cut off, so that nothing else shows that its lease has expired.
    process.step += (lasts % 4 === 0 ? 1 : -1) * ms * 10;
    during({ isCut: true }, { isCut: false });
  } else if (kind === 'command') member.command('20', Math.min(ms, 8000));
  else if (kind === 'wipe') world.wipe();
  else if (kind === 'copy') world.takeCopy();
  else if (kind === 'set back') world.setBack();
  else if (kind === 'all cut') {
    // They do not all come back at the same moment.
    for (const each of alive) {
      each.line.isCut = true;
      time.after(ms + world.random() * spread * LEASE, () => (each.line.isCut = false));
    }
  }
}

/** A world that has begun to work, and then has faults. */
async function afterFaults(
  seed: number,
  faults: readonly Fault[],
  pauses = 0,
  delay = 20,
): Promise<World> {
  const world = new World(seed, 3, delay);
  await world.runTo(2 * LEASE);
  world.pauses = pauses;
  for (const fault of faults) {
    await world.runTo(world.time.now + fault.after * TENTH);
    apply(world, fault);
  }
  await world.runTo(world.time.now + 2 * LEASE);
  return world;
}

const seeds = fc.nat();

describe('a cluster whose processes and connections fail', () => {
  holds(
    'has at most one process that may emit for a device, never saves an older position, and loses nothing',
    20,
    fc.asyncProperty(seeds, faultsOf(KINDS, 10), async (seed, faults) => {
      const world = await afterFaults(seed, faults, 0.002);
      await world.recover();
      assert.deepEqual(world.lost, []);
    }),
  );

  holds(
    'has at most one also if the store is lost or set back at any time',
    30,
    fc.asyncProperty(
      seeds,
      faultsOf([...KINDS, ...RESETS, ...RESETS], 12),
      async (seed, faults) => {
        const world = await afterFaults(seed, faults);
        await world.recover();
      },
    ),
  );

  holds(
    'has at most one also if the store is set back to before devices were moved',
    20,
    fc.asyncProperty(
      seeds,
      fc.constantFrom<Kind>('pause', 'join', 'leave', 'kill'),
      fc.integer({ min: 2, max: 30 }),
      faultsOf(['cut', 'pause', 'loss'], 2),
      async (seed, kind, moment, faults) => {
        const world = new World(seed, 3);
        await world.runTo(2 * LEASE);
        world.takeCopy();
        apply(world, { kind, after: 0, member: 0, lasts: 20 });
        await world.runTo(world.time.now + moment * TENTH);
        for (const fault of faults) apply(world, fault);
        world.setBack();
        await world.runTo(world.time.now + 2 * LEASE);
        await world.recover();
      },
    ),
  );

  holds(
    'sends one command to a device at a time, even if the store is lost or set back meanwhile',
    15,
    fc.asyncProperty(seeds, fc.constantFrom<Kind>('wipe', 'set back'), async (seed, kind) => {
      const world = new World(seed, 3);
      const { time, random, members } = world;
      await world.runTo(2 * LEASE);
      world.takeCopy();
      for (let count = 0; count < 6; count++) {
        // Some take longer than the store needs to settle.
        const ms = random() * 8000;
        time.after(random() * 2 * LEASE, () => members[count % 3]!.command('20', ms));
      }
      await world.runTo(time.now + LEASE);
      apply(world, { kind, after: 0, member: 0, lasts: 0 });
      await world.runTo(time.now + 11 * LEASE);
      // All of those may have met a store that was settling: this one has to be sent.
      const before = world.commands;
      members[0]!.command('20', 0);
      await world.runTo(time.now + LEASE);
      assert.equal(world.commands, before + 1);
    }),
  );

  holds(
    'loses and repeats nothing when processes join and leave, even if writes are slow',
    10,
    fc.asyncProperty(seeds, faultsOf(['join', 'leave'], 4), async (seed, faults) => {
      const world = await afterFaults(seed, faults, 0, 400);
      await world.recover();
      assert.deepEqual([world.lost, world.doubled], [[], 0]);
    }),
  );

  holds(
    'loses and repeats nothing, and moves no device, if the store is away, lost or set back while all processes live',
    20,
    fc.asyncProperty(
      seeds,
      fc.constantFrom<Kind>('all cut', 'wipe', 'set back'),
      fc.integer({ min: 1, max: 40 }),
      async (seed, kind, lasts) => {
        const world = new World(seed, 3);
        await world.runTo(3 * LEASE);
        world.takeCopy();
        await world.runTo(5 * LEASE);
        const epochs = epochsOf(world);
        // After a short cut, those that are back first have noticed no gap, and would rightly take over from one that
        // has not sent a beat for a lease: so the others follow sooner.
        const spread = lasts * TENTH <= LEASE / 2 ? 0.1 : 0.6;
        apply(world, { kind: 'all cut', after: 0, member: 0, lasts }, spread);
        await world.runTo(world.time.now + (lasts * TENTH) / 2);
        if (kind !== 'all cut') apply(world, { kind, after: 0, member: 0, lasts });
        await world.runTo(world.time.now + (lasts * TENTH) / 2 + LEASE);
        await world.recover();
        assert.deepEqual([world.lost, world.doubled], [[], 0]);
        assert.deepEqual(epochsOf(world), epochs);
      },
    ),
  );
});

const epochsOf = ({ alive, devices }: World): unknown[] =>
  alive.map(({ cluster }) => devices.map((chipid) => cluster.epochOf(chipid)));
