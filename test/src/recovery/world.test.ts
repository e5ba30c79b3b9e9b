import assert from 'node:assert/strict';
import { mock } from 'node:test';
import fc from 'fast-check';
import { createWorld, type Step } from './world';

const just = <T extends Step['kind']>(kind: T) => fc.record({ kind: fc.constant(kind) });

const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('upload' as const), body: fc.constantFrom('a', 'b') }) }, // prettier-ignore
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('garbled' as const), body: fc.constantFrom('a', 'b') }) }, // prettier-ignore
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('deliver' as const), frames: fc.integer({ min: 1, max: 4 }) }) }, // prettier-ignore
  { weight: 2, arbitrary: just('connect') },
  { weight: 1, arbitrary: just('drop') },
  { weight: 2, arbitrary: just('serve') },
  { weight: 3, arbitrary: just('answer') },
  { weight: 1, arbitrary: just('fail') },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(600, 6000, 61_000) }) }, // prettier-ignore
  { weight: 1, arbitrary: just('restart') },
);
const STEPS = fc.array(STEP, { maxLength: 60, size: 'max' });

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

/** Gives each upload a body of its own. */
const unique = (steps: readonly Step[]): Step[] =>
  steps.map((step, index) => ('body' in step ? { ...step, body: `u${index}` } : step));

/** What cannot be read is recovered after what came later. */
const readable = (steps: readonly Step[]): Step[] => steps.filter(({ kind }) => kind !== 'garbled');

const isSorted = (numbers: readonly number[]): boolean =>
  numbers.every((n, index) => index === 0 || n > numbers[index - 1]!);

/** The answer to a first reading has what the channel brought before it was lost, and more. */
const DROPPED_WHILE_READ: Step[] = [
  { kind: 'connect' },
  { kind: 'upload', body: 'a' },
  { kind: 'deliver', frames: 1 },
  { kind: 'drop' },
  { kind: 'upload', body: 'b' },
  { kind: 'answer' },
  { kind: 'wait', ms: 6000 },
  { kind: 'answer' },
  { kind: 'upload', body: 'a' },
];

type World = ReturnType<typeof createWorld>;

async function play(world: World, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await world.run(step);
  await world.quiet();
  world.close();
}

describe('recovery between a network and a service that do what they like', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  const READY: Step[] = [{ kind: 'connect' }, { kind: 'answer' }, { kind: 'deliver', frames: 9 }];

  it('emits each upload once, equal ones as often as they came', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, fc.boolean(), async (steps, small) => {
        // With small limits, holding overflows and the position moves on all the time.
        const world = createWorld(small ? { limits: { held: 2, arrived: 4 } } : {});
        await play(world, [...READY, ...steps]);
        assert.deepEqual([...world.emitted].sort(), [...world.accepted].sort());
      }),
      { numRuns: 1000 },
    );
  });

  it('emits them in the order in which they were accepted', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, fc.boolean(), async (steps, small) => {
        const world = createWorld(small ? { limits: { held: 2, arrived: 4 } } : {});
        await play(world, unique([...READY, ...readable(steps)]));
        assert.deepEqual([...world.emitted].sort(), [...world.accepted].sort());
        if (!world.late) assert.deepEqual(world.emitted, world.accepted);
      }),
      { numRuns: 1000 },
    );
  });

  it('begins with its first reading, whatever races with it', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, fc.nat(3), fc.boolean(), async (steps, earlier, own) => {
        const world = createWorld({ earlier });
        const all = steps.filter(({ kind }) => kind !== 'restart');
        let owed: (id: number) => boolean = () => false;
        for (const step of own ? unique(all) : all) {
          const isOpen = world.position() === undefined;
          await world.run(step);
          const position = world.position();
          if (!isOpen || !position) continue;
          const before = new Set(world.live);
          owed = (id) => id > Number(position.id) || before.has(id);
        }
        await world.quiet();
        world.close();
        assert.deepEqual(excess(world.emitted, world.accepted.slice(earlier)), [], 'doubled');
        const due = world.accepted.filter((_, index) => owed(index + 1));
        assert.deepEqual(excess(due, world.emitted), [], 'lost');
      }),
      { numRuns: 1000, examples: [[DROPPED_WHILE_READ, 0, false]] },
    );
  });

  it('loses only what the history no longer has, when that reaches back a little only', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, fc.integer({ min: 2, max: 6 }), async (steps, window) => {
        const world = createWorld({ window, earlier: 1, limits: { held: 3, arrived: 4 } });
        await play(world, unique([...READY, ...steps]));
        const places = world.emitted.map((body) => world.accepted.indexOf(body));
        assert.equal(new Set(places).size, places.length, 'doubled');
        if (!world.late) assert.ok(isSorted(places), 'out of order');
        assert.deepEqual(excess(world.accepted.slice(1).slice(-window), world.emitted), [], 'lost');
      }),
      { numRuns: 1000 },
    );
  });
});
