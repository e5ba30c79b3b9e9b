import { FAULT_NAMES } from '../src/simulator/index';
import { parseChipid, Pattern } from '../src/index';
import { isOperator } from './match';
import { MAX_SEEN } from './protocol';
import { fileProblem, parseYaml, type Parsed } from './yaml';

/** The longest wait, and time of a file of uploads, in seconds. */
export const MAX_SECONDS = 3600;
const PINS = 16;

/** Where a value is: an object, and one of its keys. */
class Place {
  constructor(
    readonly file: string,
    readonly parsed: Parsed,
    readonly of: unknown,
    readonly key: string,
  ) {}

  at(of: unknown, key: string): Place {
    return new Place(this.file, this.parsed, of, key);
  }

  fail(problem: string): never {
    const line = this.parsed.lines.get(this.of);
    throw fileProblem(line === undefined ? this.file : `${this.file}:${line}`, problem);
  }

  /** Says what a value must be. */
  refuse(value: unknown, wanted: string): never {
    const shown = JSON.stringify(value)?.slice(0, 100) ?? 'missing';
    return this.fail(`"${this.key}" must be ${wanted}, but is ${shown}.`);
  }
}

/** Reads a value. @throws Problem */
type Check<T> = (value: unknown, place: Place) => T;
type Checks = Readonly<Record<string, Check<unknown>>>;
type Read<C extends Checks> = { -readonly [K in keyof C]: ReturnType<C[K]> };

const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** An object that has all of some keys, any of others, and no more. */
const table =
  <N extends Checks, O extends Checks>(needed: N, others: O): Check<Read<N> & Partial<Read<O>>> =>
  (value, place) => {
    const checks = { ...needed, ...others };
    const names = listed(Object.keys(checks));
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return place.refuse(value, `an object with ${names}`);
    for (const key of Object.keys(value))
      if (!Object.hasOwn(checks, key))
        place.at(value, key).fail(`"${place.key}" has no "${key}". It has ${names}.`);
    const found = value as Readonly<Record<string, unknown>>;
    const entries = Object.entries(checks)
      .filter(([key]) => key in found || key in needed)
      .map(([key, check]) => [key, check(found[key], place.at(value, key))]);
    return Object.fromEntries(entries) as Read<N> & Partial<Read<O>>;
  };

/** A table of which one key alone may be written without the others. */
const short =
  <T>(key: string, check: Check<T>): Check<T> =>
  (value, place) =>
    typeof value === 'object' ? check(value, place) : check({ [key]: value }, place);

/** What one of several checks reads: its name as `kind`, and an object. */
type OneOf<C extends Checks> = {
  [K in keyof C & string]: { readonly kind: K } & ReturnType<C[K]>;
}[keyof C & string];

/** One of several things, by the only key of an object. @param what is made of it */
const oneOf =
  <C extends Checks>(what: string, checks: C): Check<OneOf<C>> =>
  (value, place) => {
    const names = listed(Object.keys(checks));
    const [kind = '', ...more] = Object.keys(Object(value));
    const check = Object.hasOwn(checks, kind) ? checks[kind] : undefined;
    const inside = place.at(value, kind);
    if (kind === '' || more.length > 0)
      return place.at(value, '').fail(`${what} must be one of ${names}: begin each with "- ".`);
    if (!check) return inside.fail(`${what} has no "${kind}". It has ${names}.`);
    const read = check((value as Record<string, unknown>)[kind], inside);
    return { kind, ...(read as object) } as OneOf<C>;
  };

const list =
  <T>(check: Check<T>): Check<T[]> =>
  (value, place) =>
    Array.isArray(value)
      ? value.map((each: unknown, index) => check(each, place.at(value, String(index))))
      : place.refuse(value, 'a list');

const text: Check<string> = (value, place) => {
  if (typeof value === 'string' && value !== '') return value;
  // A node may be called 5.
  return typeof value === 'number' ? String(value) : place.refuse(value, 'text');
};

const WHOLE = 'a whole number';
const number =
  (min: number, max: number, noun: string): Check<number> =>
  (value, place) =>
    typeof value === 'number' &&
    value >= min &&
    value <= max &&
    (noun !== WHOLE || Number.isInteger(value))
      ? value
      : place.refuse(value, `${noun} from ${min} to ${max}`);

const seconds = number(0, MAX_SECONDS, 'a number of seconds');

const flag: Check<boolean> = (value, place) =>
  typeof value === 'boolean' ? value : place.refuse(value, 'true or false');

const level: Check<0 | 1> = (value, place) =>
  value === 0 || value === 1 ? value : place.refuse(value, '0 or 1');

const present: Check<unknown> = (value, place) =>
  value === undefined ? place.fail(`There is no "${place.key}".`) : value;

const object: Check<object> = (value, place) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value
    : place.refuse(value, 'an object, such as { payload: 1 }');

const chipid: Check<string> = (value, place) => {
  try {
    return parseChipid(value);
  } catch {
    const wanted = 'an integer of at most 20 digits; above 9007199254740991 in quotes';
    return place.refuse(value, wanted);
  }
};

const fault: Check<(typeof FAULT_NAMES)[number] | false> = (value, place) =>
  value === false
    ? value
    : (FAULT_NAMES.find((name) => name === value) ??
      place.refuse(value, `${listed(FAULT_NAMES)} or false`));

const pins = table(
  {},
  Object.fromEntries(Array.from({ length: PINS }, (_, pin) => [String(pin), level])),
);

const anyNumber: Check<number> = (value, place) =>
  typeof value === 'number' ? value : place.refuse(value, 'a number');

const pattern: Check<string> = (value, place) => {
  try {
    if (typeof value === 'string') {
      new Pattern(value).test('');
      return value;
    }
  } catch {
    // It is refused like anything else.
  }
  return place.refuse(value, 'a regular expression without look-around and back-references');
};

const isTrue: Check<true> = (value, place) => value === true || place.refuse(value, 'true');

const operators = table({}, { gt: anyNumber, lt: anyNumber, regex: pattern, any: isTrue });

/** What is to be matched, its operators checked. */
const match: Check<unknown> = (value, place) => {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (isOperator(value)) return operators(value, place);
  for (const [key, inside] of Object.entries(value)) match(inside, place.at(value, key));
  return value;
};

/** What the world does in a test. */
const given = oneOf('An entry of "given"', {
  upload: table({ chipid, payload: present }, {}),
  uploads: short('file', table({ file: text }, { speed: number(0.01, MAX_SECONDS, 'a number') })),
  device: table({ chipid }, { asleep: flag, offline: flag, fails: fault, pins }),
  inject: short('at', table({ at: text }, { msg: object })),
  set: table({ node: text, property: text, value: present }, {}),
  wait: (value, place) => ({ seconds: seconds(value, place) }),
});

/** Something that a flow does, and by when in seconds. */
const within = seconds;
const SIGHTS = {
  message: table({ at: text }, { match, count: number(0, MAX_SEEN, WHOLE), within }),
  pin: table({ chipid, pin: number(0, PINS - 1, WHOLE), level }, { within }),
  pushed: table({ chipid }, { match, within }),
  status: table({ at: text }, { match, within }),
  error: table({ at: text }, { code: text, within }),
};
export type Sight = OneOf<typeof SIGHTS>;

/** What must not be seen for some seconds. */
const none: Check<{ sights: readonly Sight[]; for: number }> = (value, place) => {
  const { for: time = 1, ...found } = table({}, { ...SIGHTS, for: seconds })(value, place);
  const sights = Object.entries(found).map(([kind, sight]) => ({ kind, ...sight }) as Sight);
  if (sights.length === 0) place.fail(`"none" must name one of ${listed(Object.keys(SIGHTS))}.`);
  if (sights.some((sight) => 'within' in sight || 'count' in sight))
    place.fail('"none" has neither "within" nor "count", but "for", in seconds.');
  return { sights, for: time };
};

const expected = oneOf('An entry of "expect"', {
  ...SIGHTS,
  none,
  noError: (value, place) => (value === true ? {} : place.refuse(value, 'true, or left out')),
});

export type Expected = ReturnType<typeof expected>;

/** An upload of a CSV file. */
export interface Upload {
  readonly chipid: string;
  readonly payload: string;
  /** Milliseconds after the first one. */
  readonly at: number;
}

/** A step of a test; a file of uploads has its rows once it is loaded. */
export type Given = ReturnType<typeof given> & { readonly rows?: readonly Upload[] };

/** One test, checked. */
export interface FlowTest {
  readonly name: string;
  /** The file that it is in, as it was named. */
  readonly file: string;
  readonly given: readonly Given[];
  readonly expect: readonly Expected[];
}

const test = table({ name: text, expect: list(expected) }, { given: list(given) });

/**
 * Reads the tests of a file: one, or a list.
 * @throws Problem for anything that is not understood
 */
export function readTests(source: string, file: string): FlowTest[] {
  const parsed = parseYaml(source, file);
  const { value } = parsed;
  const tests = Array.isArray(value) ? (value as unknown[]) : [value];
  return tests.map((each) => {
    const place = new Place(file, parsed, each, 'test');
    const read = test(each, place);
    if (read.expect.length === 0)
      place.at(each, 'expect').fail(`"expect" of "${read.name}" is empty.`);
    return { file, given: [], ...read };
  });
}
