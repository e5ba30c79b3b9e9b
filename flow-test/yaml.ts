import { CORE_SCHEMA, load, Type, YAMLException, type EventType, type State } from 'js-yaml';
import { Problem } from './protocol';

/** The largest test file, in bytes: a recorded test has the uploads of ten minutes. */
export const MAX_FILE = 16 * 1024 * 1024;
/** How many values a test file may hold: an alias counts each time it is used, so that few lines cannot stand for millions. */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 50;

/** What JSON has, and bytes. A date is text, as it is in a message: an object of the class Date would match any object. */
const SCHEMA = CORE_SCHEMA.extend(
  new Type('tag:yaml.org,2002:binary', {
    kind: 'scalar',
    resolve: (text) => /^[A-Za-z0-9+/\s]*[=\s]*$/.test(String(text)),
    construct: (text) => Buffer.from(String(text), 'base64'),
  }),
);

/** A file that cannot be used: where, and why. @param place `file` or `file:line` */
export const fileProblem = (place: string, problem: string): Problem =>
  new Problem(`${place}: ${problem}`);

/** What a file says, and on which line. */
export interface Parsed {
  readonly value: unknown;
  /** The line of an object or array, or of one of its keys. Counted from 1. */
  line(of: unknown, key?: string): number | undefined;
}

interface Frame {
  readonly line: number;
  readonly children: { value: unknown; line: number }[];
}

/** Parses YAML, and so JSON. @throws Problem */
export function parseYaml(text: string, file: string): Parsed {
  if (Buffer.byteLength(text) > MAX_FILE)
    throw fileProblem(file, `it is larger than ${MAX_FILE / 1024 ** 2} MiB. Make several of it.`);
  const frames: Frame[] = [];
  const known = new WeakMap<object, Frame>();
  function listen(this: State, event: EventType, state: State): void {
    if (event === 'open') {
      frames.push({ line: state.line + 1, children: [] });
      return;
    }
    const frame = frames.pop();
    if (!frame) return;
    const value: unknown = state.result;
    frames.at(-1)?.children.push({ value, line: frame.line });
    if (typeof value === 'object' && value !== null && !known.has(value)) known.set(value, frame);
  }
  const line: Parsed['line'] = (of, key) => {
    const frame = typeof of === 'object' && of !== null ? known.get(of) : undefined;
    const child = frame?.children.find(({ value }) => key !== undefined && value === key);
    return child?.line ?? frame?.line;
  };
  let value: unknown;
  try {
    value = load(text, { listener: listen, schema: SCHEMA });
  } catch (error) {
    if (error instanceof YAMLException)
      throw fileProblem(`${file}:${error.mark.line + 1}`, `${error.reason}.`);
    // The parser calls itself for each level.
    if (error instanceof RangeError) throw fileProblem(file, 'it is nested too deeply.');
    throw error;
  }
  checkSize(value, file);
  return { value, line };
}

/** Walks the value as often as aliases repeat it, up to a limit. */
function checkSize(value: unknown, file: string): void {
  let left = MAX_VALUES;
  const visit = (each: unknown, depth: number): void => {
    if (--left < 0)
      throw fileProblem(file, `it holds more than ${MAX_VALUES} values, aliases included.`);
    if (depth > MAX_DEPTH) throw fileProblem(file, `it is nested deeper than ${MAX_DEPTH} levels.`);
    if (typeof each === 'object' && each !== null && !(each instanceof Uint8Array))
      for (const child of Object.values(each)) visit(child, depth + 1);
  };
  visit(value, 0);
}
