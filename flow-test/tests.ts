import type { FaultName } from '../src/simulator/index';
import { FAULT_NAMES } from '../src/simulator/index';
import { parseChipid, parseFormat } from '../src/input';
import { isOperator, operatorProblem } from './match';
import { MAX_SEEN } from './protocol';
import { fileProblem, parseYaml, type Parsed } from './yaml';

/** An upload of a CSV file. */
export interface Upload {
  readonly chipid: string;
  readonly payload: string;
  /** Milliseconds after the first one. */
  readonly at: number;
}

/** What the world does in a test, in order. */
export type Given =
  | { kind: 'upload'; chipid: string; payload: unknown }
  | { kind: 'uploads'; file: string; speed: number; rows: readonly Upload[] }
  | { kind: 'device'; chipid: string; device: GivenDevice }
  | { kind: 'inject'; at: string; msg?: object }
  | { kind: 'set'; node: string; property: string; value: unknown }
  | { kind: 'wait'; seconds: number };

/** The state of a device; missing properties stay as they are. */
export interface GivenDevice {
  asleep?: boolean;
  offline?: boolean;
  /** A fault of the simulator; false: none any more. */
  fails?: FaultName | false;
  pins?: Readonly<Record<string, 0 | 1>>;
}

/** Something that a flow does. */
export type Sight =
  | { kind: 'message'; at: string; match?: unknown; count?: number }
  | { kind: 'pin'; chipid: string; pin: number; level: 0 | 1 }
  | { kind: 'pushed'; chipid: string; match?: unknown; format?: string }
  | { kind: 'status'; at: string; match?: unknown }
  | { kind: 'error'; at: string; code?: string };

/** What a test expects; times in seconds. */
export type Expected =
  | { kind: 'some'; sight: Sight; within: number }
  | { kind: 'none'; sights: readonly Sight[]; for: number }
  | { kind: 'noError' };

/** One test, checked. */
export interface FlowTest {
  readonly name: string;
  /** The file that it is in, as it was named. */
  readonly file: string;
  readonly given: readonly Given[];
  readonly expect: readonly Expected[];
  /** Whether the expectations have to be met in their order. */
  readonly inOrder: boolean;
}

const DEFAULTS = { within: 5, for: 1 };
/** The longest wait, and time of a file of uploads. */
export const MAX_SECONDS = 3600;
const PINS = 16;

type Table = Readonly<Record<string, unknown>>;

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 100) ?? String(value);

/** Reads the values of one file; each problem names the line. */
class Reader {
  constructor(
    readonly file: string,
    readonly parsed: Parsed,
  ) {}

  fail(problem: string, at: unknown, key?: string): never {
    const line = this.parsed.line(at, key);
    throw fileProblem(line === undefined ? this.file : `${this.file}:${line}`, problem);
  }

  /** An object that has these keys and no others. */
  table(
    value: unknown,
    what: string,
    keys: readonly string[],
    parent: unknown,
    key?: string,
  ): Table {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return this.fail(`${what} must have ${listed(keys)}, but is ${shown(value)}.`, parent, key);
    for (const name of Object.keys(value))
      if (!keys.includes(name))
        this.fail(`${what} has no "${name}". It has ${listed(keys)}.`, value, name);
    return value as Table;
  }

  list(of: Table, key: string, name: string): unknown[] {
    const value = of[key];
    if (Array.isArray(value)) return value as unknown[];
    return this.fail(`"${key}" of "${name}" must be a list, but is ${shown(value)}.`, of, key);
  }

  text(of: Table, key: string): string {
    const value = of[key];
    if (typeof value === 'string' && value !== '') return value;
    // A node may be called 5.
    if (typeof value === 'number') return String(value);
    return this.fail(`"${key}" must be text, but is ${shown(value)}.`, of, key);
  }

  number(of: Table, key: string, max: number, kind: 'seconds' | 'whole' = 'seconds'): number {
    const value = of[key];
    if (typeof value === 'number' && value >= 0 && value <= max)
      if (kind === 'seconds' || Number.isInteger(value)) return value;
    const noun = kind === 'whole' ? 'a whole number' : 'a number of seconds';
    return this.fail(`"${key}" must be ${noun} from 0 to ${max}, but is ${shown(value)}.`, of, key);
  }

  flag(of: Table, key: string): boolean {
    const value = of[key];
    if (typeof value === 'boolean') return value;
    return this.fail(`"${key}" must be true or false, but is ${shown(value)}.`, of, key);
  }

  chipid(of: Table): string {
    try {
      return parseChipid(of['chipid']);
    } catch {
      const hint = 'an integer of at most 20 digits; above 9007199254740991 in quotes';
      return this.fail(`"chipid" must be ${hint}, but is ${shown(of['chipid'])}.`, of, 'chipid');
    }
  }

  level(value: unknown, of: unknown, key: string): 0 | 1 {
    if (value === 0 || value === 1) return value;
    return this.fail(`The level of a pin must be 0 or 1, but is ${shown(value)}.`, of, key);
  }

  /** What is to be matched, its operators checked. */
  match(of: Table): { match?: unknown } {
    if (!('match' in of)) return {};
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
      const problem = isOperator(value) ? operatorProblem(value) : undefined;
      if (problem) this.fail(problem, value);
      Object.values(value).forEach(visit);
    };
    visit(of['match']);
    return { match: of['match'] };
  }

  format(of: Table): { format?: string } {
    if (!('format' in of)) return {};
    try {
      return { format: parseFormat(of['format']) };
    } catch {
      const known = '"MSG", "HEX", "AT", "LUA" or "B64"';
      return this.fail(`"format" must be ${known}, but is ${shown(of['format'])}.`, of, 'format');
    }
  }

  /** The one key of a step. */
  step(value: unknown, what: string, kinds: readonly string[], parent: unknown): [string, Table] {
    const table = this.table(value, what, kinds, parent);
    const [kind, ...more] = Object.keys(table);
    if (kind === undefined || more.length > 0)
      return this.fail(`${what} must be one of ${listed(kinds)}: begin each with "- ".`, value);
    return [kind, table];
  }

  given(value: unknown, parent: unknown): Given {
    const kinds = ['upload', 'uploads', 'device', 'inject', 'set', 'wait'];
    const [kind, step] = this.step(value, 'An entry of "given"', kinds, parent);
    const table = (...keys: string[]): Table =>
      this.table(step[kind], `"${kind}"`, keys, step, kind);
    switch (kind) {
      case 'upload': {
        const upload = table('chipid', 'payload');
        if (!('payload' in upload)) this.fail('"upload" has no "payload".', step, kind);
        return { kind, chipid: this.chipid(upload), payload: upload['payload'] };
      }
      case 'uploads': {
        const isNamed = typeof step[kind] === 'object';
        const { file, speed = 1 } = isNamed ? table('file', 'speed') : { file: step[kind] };
        if (typeof speed !== 'number' || !(speed >= 0.01 && speed <= MAX_SECONDS))
          this.fail(`"speed" must be a number from 0.01 to ${MAX_SECONDS}.`, step[kind], 'speed');
        return { kind, file: this.text({ file }, 'file'), speed: Number(speed), rows: [] };
      }
      case 'inject': {
        if (typeof step[kind] !== 'object') return { kind, at: this.text(step, kind) };
        const inject = table('at', 'msg');
        const { msg } = inject;
        if (typeof msg !== 'object' || msg === null || Array.isArray(msg))
          this.fail('"msg" must be an object, such as { payload: 1 }.', inject, 'msg');
        return { kind, at: this.text(inject, 'at'), msg: msg as object };
      }
      case 'wait':
        return { kind, seconds: this.number(step, kind, MAX_SECONDS) };
      case 'set': {
        const set = table('node', 'property', 'value');
        if (!('value' in set)) this.fail('"set" has no "value".', step, kind);
        const [node, property] = [this.text(set, 'node'), this.text(set, 'property')];
        return { kind, node, property, value: set['value'] };
      }
      default:
        return this.device(table('chipid', 'asleep', 'offline', 'fails', 'pins'));
    }
  }

  device(of: Table): Given {
    const device: GivenDevice = {};
    if ('asleep' in of) device.asleep = this.flag(of, 'asleep');
    if ('offline' in of) device.offline = this.flag(of, 'offline');
    const { fails, pins } = of;
    const fault = FAULT_NAMES.find((name) => name === fails);
    if (fault !== undefined || fails === false) device.fails = fault ?? false;
    else if ('fails' in of)
      this.fail(`"fails" must be ${listed(FAULT_NAMES)} or false.`, of, 'fails');
    if ('pins' in of) {
      const numbers = Array.from({ length: PINS }, (_, pin) => String(pin));
      const levels = Object.entries(this.table(pins, '"pins"', numbers, of, 'pins'));
      device.pins = Object.fromEntries(
        levels.map(([pin, level]) => [pin, this.level(level, pins, pin)]),
      );
    }
    return { kind: 'device', chipid: this.chipid(of), device };
  }

  expected(value: unknown, parent: unknown): Expected {
    const [kind, step] = this.step(
      value,
      'An entry of "expect"',
      [...SIGHTS, 'none', 'noError'],
      parent,
    );
    if (kind === 'noError') {
      if (step[kind] !== true) this.fail('"noError" must be true, or left out.', step, kind);
      return { kind };
    }
    if (kind !== 'none') {
      const sight = this.sight(kind, step, ['within']);
      const { within = DEFAULTS.within } = step[kind] as { within?: unknown };
      return { kind: 'some', sight, within: this.number({ within }, 'within', MAX_SECONDS) };
    }
    const none = this.table(step[kind], '"none"', [...SIGHTS, 'for'], step, kind);
    const kinds = Object.keys(none).filter((key) => key !== 'for');
    if (kinds.length === 0) this.fail(`"none" must name one of ${listed(SIGHTS)}.`, step, kind);
    const seconds = 'for' in none ? this.number(none, 'for', MAX_SECONDS) : DEFAULTS.for;
    return { kind, sights: kinds.map((each) => this.sight(each, none, [])), for: seconds };
  }

  sight(kind: string, step: Table, more: readonly string[]): Sight {
    const table = (...keys: string[]): Table =>
      this.table(step[kind], `"${kind}"`, [...keys, ...more], step, kind);
    switch (kind) {
      case 'message': {
        // Of what must not be at all, there is no number.
        const of = more.length > 0 ? table('at', 'match', 'count') : table('at', 'match');
        const count = 'count' in of ? { count: this.number(of, 'count', MAX_SEEN, 'whole') } : {};
        return { kind, at: this.text(of, 'at'), ...this.match(of), ...count };
      }
      case 'status': {
        const of = table('at', 'match');
        return { kind, at: this.text(of, 'at'), ...this.match(of) };
      }
      case 'pushed': {
        const of = table('chipid', 'match', 'format');
        return { kind, chipid: this.chipid(of), ...this.match(of), ...this.format(of) };
      }
      case 'pin': {
        const of = table('chipid', 'pin', 'level');
        const pin = this.number(of, 'pin', PINS - 1, 'whole');
        return { kind, chipid: this.chipid(of), pin, level: this.level(of['level'], of, 'level') };
      }
      default: {
        const of = table('at', 'code');
        const code = 'code' in of ? { code: this.text(of, 'code') } : {};
        return { kind: 'error', at: this.text(of, 'at'), ...code };
      }
    }
  }

  test(value: unknown, parent: unknown): FlowTest {
    const of = this.table(value, 'A test', ['name', 'given', 'expect', 'inOrder'], parent);
    const name = this.text(of, 'name');
    const given = 'given' in of ? this.list(of, 'given', name) : [];
    const expect = this.list(of, 'expect', name);
    if (expect.length === 0) this.fail(`"expect" of "${name}" is empty.`, of, 'expect');
    return {
      name,
      file: this.file,
      given: given.map((each) => this.given(each, given)),
      expect: expect.map((each) => this.expected(each, expect)),
      inOrder: 'inOrder' in of && this.flag(of, 'inOrder'),
    };
  }
}

const SIGHTS = ['message', 'pin', 'pushed', 'status', 'error'];

const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/**
 * Reads the tests of a file: one, or a list.
 * @throws Problem for anything that is not understood
 */
export function readTests(text: string, file: string): FlowTest[] {
  const reader = new Reader(file, parseYaml(text, file));
  const { value } = reader.parsed;
  const tests = Array.isArray(value) ? (value as unknown[]) : [value];
  return tests.map((each) => reader.test(each, value));
}
