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
  const copy = (each: unknown, depth: number): unknown => {
    switch (typeof each) {
      case 'string':
        return cut(each);
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
    if (each instanceof Uint8Array) return { [BYTES]: Buffer.from(take(each)).toString('base64') };
    if (above.has(each)) return '[circular]';
    if (depth > MAX_DEPTH) return '[deeper]';
    above.add(each);
    try {
      if (Array.isArray(each)) return take(each).map((item) => copy(item, depth + 1) ?? null);
      const error = each instanceof Error ? { name: each.name, message: each.message } : {};
      const entries = take(Object.entries(each)).map(([key, item]) => [
        ...[cut(key), copy(item, depth + 1)],
      ]);
      return { ...error, ...Object.fromEntries(entries) };
    } finally {
      above.delete(each);
    }
  };
  const take = <T extends { readonly length: number; slice(start: number, end: number): T }>(
    whole: T,
    limit = MAX_TEXT,
  ): T => {
    const taken = whole.slice(0, Math.min(left, limit));
    left -= taken.length;
    return taken;
  };
  const cut = (text: string): string => {
    const taken = take<string>(text);
    return taken.length < text.length ? `${taken}…` : text;
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
