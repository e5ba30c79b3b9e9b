import type { NodeMessage } from 'node-red';

/** Bytes of a message that are kept. A property that does not fit any more is left out. */
const MAX_MESSAGE = 64 * 1024;

/** How deep values may be nested. */
const MAX_DEPTH = 100;

/** Stands before the Base64 of a Buffer, and before a text that begins with it. */
const MARK = '\u0000';

/** What cannot be kept of a value: the property is left out. */
class NotKept extends Error {}

/**
 * The properties of a message that JSON and Buffers can hold, as JSON can hold them. What is left out: what JSON leaves
 * out, a property that is nested in itself or deeper than 100 levels, an object of a class such as a request, and a property
 * with which the message takes more than 64 KiB.
 */
export function encodeMessage(msg: NodeMessage): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  let left = MAX_MESSAGE;
  for (const [name, value] of Object.entries(msg)) {
    const room = { left: left - name.length };
    try {
      const encoded = encode(value, room, 0);
      if (encoded === undefined) continue;
      define(kept, name, encoded);
      left = room.left;
    } catch {
      // Whatever is wrong with it, the others are kept.
    }
  }
  return kept;
}

/** Reads what {@link encodeMessage} has made. */
export function decodeMessage(kept: Readonly<Record<string, unknown>>): NodeMessage {
  return decode(kept) as NodeMessage;
}

function decode(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(MARK)) return value;
    return value.startsWith(MARK, 1) ? value.slice(1) : Buffer.from(value.slice(1), 'base64');
  }
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value !== 'object' || value === null) return value;
  const decoded: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value)) define(decoded, name, decode(each));
  return decoded;
}

function encode(value: unknown, room: { left: number }, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new NotKept();
  room.left -= 8;
  if (typeof value === 'string') room.left -= Buffer.byteLength(value);
  else if (Buffer.isBuffer(value)) room.left -= Math.ceil((4 * value.length) / 3);
  if (room.left < 0) throw new NotKept();
  if (typeof value === 'string') return value.startsWith(MARK) ? MARK + value : value;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (Buffer.isBuffer(value)) return MARK + value.toString('base64');
  if (typeof value !== 'object') return undefined;
  // Not `map`, which passes over holes, however many there are.
  if (Array.isArray(value))
    return Array.from(value, (each) => encode(each, room, depth + 1) ?? null);
  if ('toJSON' in value) return encode(JSON.parse(JSON.stringify(value)), room, depth + 1);
  const prototype: unknown = Object.getPrototypeOf(value);
  // A message from a function node is of another context.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) throw new NotKept();
  const encoded: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value)) {
    room.left -= name.length;
    const kept = encode(each, room, depth + 1);
    if (kept !== undefined) define(encoded, name, kept);
  }
  return encoded;
}

/** A property of any name, `__proto__` included. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    ...{ value, enumerable: true, configurable: true, writable: true },
  });
}
