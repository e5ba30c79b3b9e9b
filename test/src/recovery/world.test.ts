import assert from 'node:assert/strict';
import fc from 'fast-check';
import { holds } from '../support/fuzz';
import {
  BEGINNING,
  dressed,
  DROPPED_WHILE_READ,
  FLOOD,
  LATE,
  LOSSY_PAIR,
  ONE_MORE,
  PAIR,
  READY,
  readable,
  STEPS,
  unique,
  UP_TO_DATE,
  type Step,
} from './steps';
import { keptOf } from './history';
import { createWorld, type World, type WorldOptions } from './world';
import { useClock } from '../../support/clock';

const count = (bodies: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const body of bodies) counts.set(body, (counts.get(body) ?? 0) + 1);
  return counts;
};

/** More of a body in the first list than in the second. */
const excess = (more: readonly string[], less: readonly string[]): string[] => {
  const counts = count(less);
  return [...count(more)].filter(([body, n]) => n > (counts.get(body) ?? 0)).map(([body]) => body);
};

const isSorted = (numbers: readonly number[]): boolean =>
  numbers.every((n, index) => index === 0 || n > numbers[index - 1]!);

/** What services may differ in, and how much a listener remembers. */
const OPTIONS: fc.Arbitrary<WorldOptions> = fc.record({
  encoding: fc.constantFrom('text' as const, 'base64' as const),
  order: fc.constantFrom('oldest-first' as const, 'newest-first' as const, 'mixed' as const),
  // Ids that gain a digit, ids beyond the safe integers, and gaps between them.
  firstId: fc.constantFrom(0n, 1n, 95n, 2n ** 53n - 4n),
  step: fc.constantFrom(1n, 3n),
  // With small limits, holding overflows and the position moves on all the time.
  limits: fc.constantFrom({}, { held: 2, arrived: 4 }),
  throws: fc.boolean(),
  bad: fc.boolean(),
  // Known, still to be learned, or taken for another one.
  known: fc.constantFrom('none' as const, 'text' as const, 'base64' as const),
});

async function play(world: World, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await world.run(step);
  await world.quiet();
  await world.close();
}

describe('recovery between an unreliable network and an unreliable service', () => {
  useClock();

  holds(
    'emits each upload once, and equal ones as often as they were sent',
    250,
    fc.asyncProperty(STEPS, PAIR, OPTIONS, async (steps, pair, options) => {
      const world = createWorld(options);
      await play(world, [...READY, ...dressed(steps, pair)]);
      assert.deepEqual([...world.emitted].sort(), [...world.accepted].sort());
      const isWhole = (body: string): boolean => world.accepted.includes(body);
      const isLearned = options.known === 'none' || options.known === options.encoding;
      assert.ok(
        !isLearned || [...world.whole].every(isWhole),
        'something altered passes for whole',
      );
    }),
  );

  for (const encoding of ['trimmed', 'tagged'] as const)
    holds(
      `emits each upload once if the history is ${encoding}`,
      150,
      fc.asyncProperty(STEPS, LOSSY_PAIR, OPTIONS, async (steps, pair, options) => {
        const known = options.known === 'none' ? 'none' : encoding;
        const world = createWorld({ ...options, encoding, known });
        await play(world, [...READY, ...dressed(steps, pair)]);
        const kept = (bodies: readonly string[]): string[] =>
          bodies.map((body) => keptOf(body, encoding)).sort();
        assert.deepEqual(kept(world.emitted), kept(world.accepted));
        const isWhole = (body: string): boolean => world.accepted.includes(body);
        // A body that the history keeps as it is does not show its form.
        if (pair.every((body) => keptOf(body, encoding) !== body))
          assert.ok([...world.whole].every(isWhole), 'something altered passes for whole');
      }),
    );

  holds(
    'emits them in the order in which they were accepted',
    250,
    fc.asyncProperty(STEPS, OPTIONS, async (steps, options) => {
      const world = createWorld(options);
      await play(world, unique([...READY, ...readable(steps)]));
      if (world.late) assert.deepEqual([...world.emitted].sort(), [...world.accepted].sort());
      else assert.deepEqual(world.emitted, world.accepted);
    }),
  );

  holds(
    'begins with its first reading, whatever arrives meanwhile',
    250,
    fc.asyncProperty(BEGINNING, fc.nat(3), fc.boolean(), async (steps, earlier, own) => {
      const world = createWorld({ earlier });
      const all = steps.filter(({ kind }) => kind !== 'restart' && kind !== 'kill');
      let isDue: (id: number) => boolean = () => false;
      for (const step of own ? unique(all) : all) {
        const isOpen = world.position() === undefined;
        await world.run(step);
        const position = world.position();
        if (!isOpen || !position) continue;
        const before = new Set(world.live);
        isDue = (id) => id > Number(position.id) || before.has(id);
      }
      await world.quiet();
      await world.close();
      assert.deepEqual(excess(world.emitted, world.accepted.slice(earlier)), [], 'doubled');
      const due = world.accepted.filter((_, index) => isDue(index + 1));
      assert.deepEqual(excess(due, world.emitted), [], 'lost');
    }),
    { examples: [[DROPPED_WHILE_READ, 0, false]] },
  );

  holds(
    'loses only what a short history no longer has, or what is reported',
    250,
    fc.asyncProperty(
      STEPS,
      OPTIONS,
      fc.integer({ min: 2, max: 6 }),
      async (steps, options, window) => {
        const limits = { held: 3, arrived: 4 };
        const world = createWorld({ ...options, window, earlier: 1, limits });
        for (const step of unique([...READY, ...steps])) await world.run(step);
        await world.quiet();
        // Of an arrival that has left the history nothing shows that it is not one of the records, until another is found.
        if (world.faults.has('pending')) for (const step of ONE_MORE) await world.run(step);
        await world.quiet();
        await world.close();
        const places = world.emitted.map((body) => world.accepted.indexOf(body));
        assert.equal(new Set(places).size, places.length, 'doubled');
        if (!world.late) assert.ok(isSorted(places), 'out of order');
        if (world.faults.has('not given back')) return;
        assert.deepEqual(excess(world.accepted.slice(1).slice(-window), world.emitted), [], 'lost');
      },
    ),
  );

  holds(
    'loses nothing with a history that lags behind, except what a later upload has overtaken there, or what is reported',
    250,
    fc.asyncProperty(LATE, OPTIONS, async (steps, options) => {
      const world = createWorld(options);
      const running = steps.filter(({ kind }) => kind !== 'restart' && kind !== 'kill');
      for (const step of unique([...READY, ...running])) await world.run(step);
      await world.quiet();
      await play(world, UP_TO_DATE);
      const lost = excess(world.accepted, world.emitted);
      if (world.faults.has('not given back')) return;
      assert.deepEqual(
        lost.filter((body) => !world.overtaken.has(body)),
        [],
      );
    }),
  );

  it('holds back a limited number of live uploads: the rest come from the history', async () => {
    const world = createWorld({ limits: { held: 2 } });
    await play(world, FLOOD);
    assert.equal(world.emitted.length, 8);
    assert.ok(world.live.size <= 2, `${world.live.size} were held back`);
  });
});
