import { CORE_SCHEMA, load, Type, YAMLException, type EventType, type State } from 'js-yaml';
import { Problem } from './protocol';

/** The largest test file, in bytes: a recorded test has the uploads of ten minutes. */
export const MAX_FILE = 16 * 1024 * 1024;
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
    throw error;
  }
  try {
    JSON.stringify(value);
  } catch {
    throw fileProblem(file, 'an alias must not contain itself.');
  }
  return { value, line };
}
