import fc from 'fast-check';

/** What can happen to a device, its service, the network between, and the listener. */
export type Step =
  | { kind: 'upload'; body: string }
  /** An upload whose event arrives as something that cannot be read. */
  | { kind: 'garbled'; body: string }
  /** A number of frames on their way arrive. */
  | { kind: 'deliver'; frames: number }
  | { kind: 'connect' }
  | { kind: 'drop' }
  /** The service composes its answer to a reading, which is then under way. */
  | { kind: 'serve' }
  | { kind: 'answer' }
  | { kind: 'fail' }
  /** The history lags behind: it does not show its newest uploads yet. */
  | { kind: 'lag'; uploads: number }
  /** The history does not show one upload yet, though it shows later ones. */
  | { kind: 'hide'; back: number }
  | { kind: 'wait'; ms: number }
  /** The process ends and is started again; its last `lost` writes are lost. */
  | { kind: 'restart'; lost: number }
  /** The process is killed in the middle of what it emits, and started again. */
  | { kind: 'kill'; after: number; lost: number };

const just = <T extends Step['kind']>(kind: T) => fc.record({ kind: fc.constant(kind) });

// Few different bodies, so that equal readings are the rule.
const body = fc.constantFrom('a', 'b');
const upload = fc.record({ kind: fc.constant('upload' as const), body });
const garbled = fc.record({ kind: fc.constant('garbled' as const), body });
const frames = fc.integer({ min: 1, max: 4 });
const deliver = fc.record({ kind: fc.constant('deliver' as const), frames });
const wait = (...times: number[]) =>
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(...times) });
const lost = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.nat(4) },
);
const restart = fc.record({ kind: fc.constant('restart' as const), lost });
const after = fc.integer({ min: 1, max: 3 });
const kill = fc.record({ kind: fc.constant('kill' as const), after, lost });

const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 16, arbitrary: upload },
  { weight: 2, arbitrary: garbled },
  { weight: 8, arbitrary: deliver },
  { weight: 4, arbitrary: just('connect') },
  { weight: 2, arbitrary: just('drop') },
  { weight: 4, arbitrary: just('serve') },
  { weight: 6, arbitrary: just('answer') },
  { weight: 2, arbitrary: just('fail') },
  { weight: 4, arbitrary: wait(600, 6000, 6000, 600, 6000, 600, 61_000) },
  { weight: 1, arbitrary: restart },
  { weight: 1, arbitrary: kill },
);

export const STEPS = fc.array(STEP, { maxLength: 60, size: 'max' });

const RACE: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: upload },
  { weight: 4, arbitrary: deliver },
  { weight: 2, arbitrary: just('serve') },
  { weight: 2, arbitrary: just('answer') },
  { weight: 1, arbitrary: wait(600) },
);

const back = fc.nat(4);
const late = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lag' as const), uploads: back }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hide' as const), back }) },
);

/** A history that shows uploads late, and some after later ones. */
export const LATE: fc.Arbitrary<Step[]> = fc
  .array(fc.tuple(fc.array(STEP, { maxLength: 8, size: 'max' }), late), { maxLength: 6 })
  .map((parts) => parts.flatMap(([steps, change]): Step[] => [...steps, change]));

/** It shows all of them, and is read once more. */
export const UP_TO_DATE: Step[] = [{ kind: 'lag', uploads: 0 }, { kind: 'drop' }];

/** An upload that arrives live, and a gap, after which the history is read. */
export const ONE_MORE: Step[] = [
  { kind: 'upload', body: 'one more' },
  { kind: 'deliver', frames: Infinity },
  { kind: 'drop' },
];

/** A first reading with which uploads race, and what comes after it. */
export const BEGINNING = fc
  .tuple(
    fc.array(RACE, { maxLength: 12, size: 'max' }),
    fc.array(STEP, { maxLength: 40, size: 'max' }),
  )
  .map(([race, rest]): Step[] => [{ kind: 'connect' }, ...race, ...rest]);

/** Two bodies: plain ones, two that begin alike for long, and two that are bytes but no UTF-8. */
export const PAIR = fc.oneof(
  { weight: 4, arbitrary: fc.constant(['a', 'b'] as const) },
  { weight: 1, arbitrary: fc.constant([`${'x'.repeat(80)}1`, `${'x'.repeat(80)}2`] as const) },
  { weight: 1, arbitrary: fc.constant(['\xfe', '\xff'] as const) },
);

/** Two bodies that some histories do not keep, or keep as one and the same, or as nothing. */
export const LOSSY_PAIR = fc.constantFrom(
  ['a\r\n', 'b\r\n'] as const,
  ['{"t":21,"h":40}', '{"t":22,"h":40}'] as const,
  ['{"t":21,"h":40}', '{"t":21,"h":41}\r\n'] as const,
  ['t=21', 'x,t=21'] as const,
  ['  ', 'a'] as const,
  [',', '1,2'] as const,
);

/** Gives the uploads the bodies of a pair. */
export const dressed = (steps: readonly Step[], [a, b]: readonly [string, string]): Step[] =>
  steps.map((step) => ('body' in step ? { ...step, body: step.body === 'a' ? a : b } : step));

/** Gives each upload a unique body. */
export const unique = (steps: readonly Step[]): Step[] =>
  steps.map((step, index) => ('body' in step ? { ...step, body: `u${index}` } : step));

/** What cannot be read is recovered after what came later. */
export const readable = (steps: readonly Step[]): Step[] =>
  steps.filter(({ kind }) => kind !== 'garbled');

/** A listener that has read the history once, so that everything from here on is recovered. */
export const READY: Step[] = [
  { kind: 'connect' },
  { kind: 'answer' },
  { kind: 'deliver', frames: 9 },
];

/** The answer to a first reading has what the channel brought before it was lost, and more. */
export const DROPPED_WHILE_READ: Step[] = [
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

/** A reading that is out while more uploads come than may be held back. */
export const FLOOD: Step[] = [
  ...READY,
  { kind: 'connect' },
  ...Array.from({ length: 8 }, (): Step => ({ kind: 'upload', body: 'a' })),
  { kind: 'deliver', frames: 8 },
  { kind: 'answer' },
];
