import { Pattern } from '../src/index';

/** What a value may be asked for instead of being equal: each is a key of an object that has no others. */
interface Operators {
  readonly gt?: number;
  readonly lt?: number;
  readonly regex?: string;
  /** It is there. */
  readonly any?: true;
}

const KNOWN = ['gt', 'lt', 'any', 'regex'];

/** Whether an object is made of operators alone. */
export function isOperator(value: object): value is Operators {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => KNOWN.includes(key));
}

const MAX_SHOWN = 300;

/** A value as it is shown to a person, on one line. */
export function brief(value: unknown): string {
  const text = (value === undefined ? 'nothing' : JSON.stringify(readable(value))) || String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** Bytes as text where they are text. */
const readable = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString() : value;

/**
 * Compares a value with a subset of it. Bytes are compared as text.
 * @returns what differs, or undefined if it matches
 */
export function difference(expected: unknown, found: unknown, path = ''): string | undefined {
  const wanted = readable(expected);
  const actual = readable(found);
  const where = path === '' ? 'it' : path;
  if (typeof wanted !== 'object' || wanted === null)
    return wanted === actual ? undefined : `${where} is ${brief(actual)}, not ${brief(wanted)}`;
  if (!Array.isArray(wanted) && isOperator(wanted))
    return operatorDifference(wanted, actual, where);
  if (typeof actual !== 'object' || actual === null)
    return `${where} is ${brief(actual)}, not ${brief(wanted)}`;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual)) return `${where} is ${brief(actual)}, not a list`;
    if (actual.length !== wanted.length)
      return `${where} has ${actual.length} entries, not ${wanted.length}`;
  }
  for (const [key, value] of Object.entries(wanted)) {
    const inside = Array.isArray(wanted) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (!Object.hasOwn(actual, key)) {
      // Null says that there is nothing.
      if (value === null) continue;
      return `${inside} is missing`;
    }
    const differs = difference(value, (actual as Record<string, unknown>)[key], inside);
    if (differs) return differs;
  }
  return undefined;
}

function operatorDifference(wanted: Operators, actual: unknown, where: string): string | undefined {
  const { gt, lt, regex } = wanted;
  if (actual === undefined) return `${where} is missing`;
  const is = `${where} is ${brief(actual)}`;
  if (gt !== undefined && !(typeof actual === 'number' && actual > gt))
    return `${is}, not greater than ${gt}`;
  if (lt !== undefined && !(typeof actual === 'number' && actual < lt))
    return `${is}, not less than ${lt}`;
  return regex !== undefined && !matches(regex, actual) ? `${is}, not like ${regex}` : undefined;
}

function matches(pattern: string, actual: unknown): boolean {
  if (typeof actual !== 'string' && typeof actual !== 'number') return false;
  return new Pattern(pattern).test(String(actual));
}
