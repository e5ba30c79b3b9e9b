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
  /** The lines on which objects and arrays begin, counted from 1. */
  readonly lines: ReadonlyMap<unknown, number>;
}

/** Parses YAML, and so JSON. @throws Problem */
export function parseYaml(text: string, file: string): Parsed {
  const open: number[] = [];
  const lines = new Map<unknown, number>();
  function listen(this: State, event: EventType, state: State): void {
    if (event === 'open') {
      open.push(state.line + 1);
      return;
    }
    const line = open.pop();
    const value: unknown = state.result;
    if (line && typeof value === 'object' && !lines.has(value)) lines.set(value, line);
  }
  try {
    return { value: load(text, { listener: listen, schema: SCHEMA }), lines };
  } catch (error) {
    if (error instanceof YAMLException)
      throw fileProblem(`${file}:${error.mark.line + 1}`, `${error.reason}.`);
    throw error;
  }
}
