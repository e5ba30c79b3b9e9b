import type { JsonObject } from '../types';

/** Whether a value has fields: an object, not an array or null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object that holds fields, in whatever realm it was made: no Date, no Map, no Buffer. */
export const isPlainObject = (value: unknown): value is JsonObject =>
  Object.prototype.toString.call(value) === '[object Object]';

/** The most steps that a path may have: JSON is at most 100 levels deep. */
const MAX_STEPS = 100;

/** A name, or a name or index in brackets. A dot precedes each name but the first. */
const STEP = /\.?([^.[\]\s'"]+)|\[(\d+|"[^"]*"|'[^']*')\]/y;

/**
 * Reads the path of a property, as flows write it: `reply.values[0]["unit"]`.
 * @returns its steps from the outermost, or undefined if it is not a path
 */
export function readPath(path: string): string[] | undefined {
  const steps: string[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const from = STEP.lastIndex;
    const match = STEP.exec(path);
    if (!match || steps.length === MAX_STEPS) return undefined;
    const [text, name, bracket = ''] = match;
    // Only the first name has no dot before it.
    if (name !== undefined && text.startsWith('.') !== from > 0) return undefined;
    steps.push(name ?? bracket.replace(/^["']|["']$/g, ''));
  }
  return steps.length > 0 ? steps : undefined;
}

/** The value at a path of own properties; undefined if it does not exist. */
export function valueAt(value: unknown, steps: readonly string[]): unknown {
  let found = value;
  for (const step of steps) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) {
      return undefined;
    }
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}

/**
 * Whether two values of JSON are equal, without conversions: `"1"` is not `1`. The order of an
 * object's properties makes no difference, nor does the realm that it comes from, such as that of a
 * function node.
 */
export function equalJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) &&
        equalJson((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    )
  );
}
