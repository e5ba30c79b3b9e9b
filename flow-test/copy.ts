/*
 * Messages on their way from Node-RED to the runner: values of any kind become JSON, of a limited size.
 */

const MAX_DEPTH = 30;
const MAX_TEXT = 64 * 1024;
const MAX_ENTRIES = 10_000;
/** Bytes in JSON, which has none. */
const BYTES = '$bytes';

/** A copy of a value that JSON can hold. What has no place in JSON is left out or described. */
export function toJson(value: unknown): unknown {
  let left = MAX_ENTRIES;
  const above = new Set<object>();
  const copy = (each: unknown, depth: number): unknown => {
    switch (typeof each) {
      case 'string':
        return each.length > MAX_TEXT ? `${each.slice(0, MAX_TEXT)}…` : each;
      case 'number':
        return Number.isFinite(each) ? each : String(each);
      case 'bigint':
        return String(each);
      case 'boolean':
        return each;
      case 'object':
        return each === null ? null : ofObject(each, depth);
      default:
        return undefined;
    }
  };
  const ofObject = (each: object, depth: number): unknown => {
    if (each instanceof Date) return each.toJSON();
    if (each instanceof Uint8Array)
      return { [BYTES]: Buffer.from(each.subarray(0, MAX_TEXT)).toString('base64') };
    if (above.has(each)) return '[circular]';
    if (depth > MAX_DEPTH) return '[deeper]';
    above.add(each);
    try {
      if (Array.isArray(each)) return take(each).map((item) => copy(item, depth + 1) ?? null);
      const error = each instanceof Error ? { name: each.name, message: each.message } : {};
      const entries = take(Object.entries(each)).map(([key, item]) => [key, copy(item, depth + 1)]);
      return { ...error, ...Object.fromEntries(entries) };
    } finally {
      above.delete(each);
    }
  };
  const take = <T>(list: readonly T[]): T[] => {
    const taken = list.slice(0, Math.max(0, left));
    left -= taken.length;
    return taken;
  };
  return copy(value, 0);
}

/** The value again, with its bytes. */
export function fromJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fromJson);
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first?.[0] === BYTES) return Buffer.from(String(first[1]), 'base64');
  return Object.fromEntries(entries.map(([key, item]) => [key, fromJson(item)]));
}
