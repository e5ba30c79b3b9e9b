/*
 * Messages on their way from Node-RED to the runner: values of any kind become JSON, of a limited size.
 */

const MAX_DEPTH = 30;
/** Characters of a text, and bytes. */
const MAX_TEXT = 64 * 1024;
/** Of a message as a whole: characters of texts, bytes, and entries. */
const MAX_SIZE = 1024 * 1024;
/** Bytes in JSON, which has none. */
const BYTES = '$bytes';

/** A copy of a value that JSON can hold. What has no place in JSON is left out or described. */
export function toJson(value: unknown): unknown {
  let left = MAX_SIZE;
  const above = new Set<object>();
  const take = <T extends { readonly length: number; slice(start: number, end: number): T }>(
    whole: T,
  ): T => {
    const taken = whole.slice(0, Math.min(left, MAX_TEXT));
    left -= taken.length;
    return taken;
  };
  const cut = (text: string): string => {
    const taken = take<string>(text);
    return taken.length < text.length ? `${taken}…` : text;
  };
  const copy = (each: unknown, depth: number): unknown => {
    if (typeof each === 'object' && each !== null) return ofObject(each, depth);
    if (typeof each === 'string') return cut(each);
    if (typeof each === 'boolean' || each === null || Number.isFinite(each)) return each;
    return typeof each === 'number' || typeof each === 'bigint' ? String(each) : undefined;
  };
  const ofObject = (each: object, depth: number): unknown => {
    if (each instanceof Date) return each.toJSON();
    if (each instanceof Uint8Array) return { [BYTES]: Buffer.from(take(each)).toString('base64') };
    if (above.has(each)) return '[circular]';
    if (depth > MAX_DEPTH) return '[deeper]';
    above.add(each);
    try {
      if (Array.isArray(each)) return take(each).map((item) => copy(item, depth + 1) ?? null);
      const error = each instanceof Error ? { name: each.name, message: each.message } : {};
      const entries = take(Object.entries(each));
      const copies = entries.map(([key, item]) => [cut(key), copy(item, depth + 1)] as const);
      return { ...error, ...Object.fromEntries(copies) };
    } finally {
      above.delete(each);
    }
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
