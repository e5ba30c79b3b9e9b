import type { JsonObject } from '../types';

/** Levels of arrays and objects inside each other. Node-RED copies a message with a recursive function. */
export const MAX_DEPTH = 100;
/**
 * Arrays and objects, and fields of objects, in one text. Each takes up to 200 bytes of memory, and as
 * much again in each copy of a message, however short its text is. The shortest record of the service's
 * document takes 70 bytes of text (section 2), so 64 MiB of records stay below both limits.
 */
export const MAX_CONTAINERS = 1_000_000;
export const MAX_FIELDS = 5_000_000;

/** The error for text that is not parsed, although it may be JSON: its value would overload whatever handles it. */
export class JsonLimitError extends SyntaxError {
  override readonly name = 'JsonLimitError';
  /** @param what ends the sentence "the answer is …" @param advice what to do about it */
  constructor(
    readonly what: string,
    readonly advice: string,
  ) {
    super(`The JSON is ${what}.`);
  }
}

export const tooDeep = (): JsonLimitError =>
  new JsonLimitError(
    `nested deeper than ${MAX_DEPTH} levels`,
    "Reduce the nesting where it is produced, for example in the device's firmware.",
  );

const tooMany = (): JsonLimitError =>
  new JsonLimitError(
    'of more than 1,000,000 arrays and objects, or 5,000,000 fields',
    'Ask for less at a time, such as fewer days.',
  );

/* Not imported, since V8 looks up an import at each use. */
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LETTER_E = 0x65;

const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const NINE = 0x39;

/** Every integer that a number cannot hold has this many digits or more. */
const LONG = 16;

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

export const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** A byte order mark: RFC 8259 (section 8.1) lets a reader ignore it, and servers and devices write it before JSON. */
export const MARK: Buffer = Buffer.from('\uFEFF');

/** Where the JSON of the bytes begins: behind a byte order mark. */
export const startOfJson = (bytes: Buffer): number =>
  bytes[0] === MARK[0] && bytes[1] === MARK[1] && bytes[2] === MARK[2] ? MARK.length : 0;

/** Whether a byte beside a run of digits makes it a part of a fraction or of a number with an exponent. */
const isPart = (byte = 0): boolean => byte === DOT || byte === PLUS || (byte | 0x20) === LETTER_E;

/**
 * Whether a run of digits is an integer that a number cannot hold. Where a number would be invalid, quotes must not make
 * it valid: as a name of a field, or with a leading zero.
 */
function isLongInteger(bytes: Buffer, start: number, first: number, end: number): boolean {
  if (bytes[first] === ZERO || isPart(bytes[start - 1]) || isPart(bytes[end])) return false;
  if (end - first === LONG && Number.isSafeInteger(Number(bytes.toString('latin1', first, end))))
    return false;
  while (isSpace(bytes[end])) end++;
  return bytes[end] !== COLON;
}

/** Returns the offset of the quote that ends a string, or the end of the text. @param at after the first quote */
export function stringEnd(bytes: Buffer, at: number, length: number): number {
  while (at < length) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return length;
}

/**
 * Checks JSON that is about to be parsed, without parsing it. What is not JSON is left to JSON.parse.
 * @param bytes JSON in UTF-8
 * @returns where each integer that a number cannot hold begins and ends, its sign included
 * @throws JsonLimitError
 */
export function checkJson(bytes: Buffer): number[] {
  const places: number[] = [];
  let depth = 0;
  let containers = 0;
  let fields = 0;
  // To ask a Buffer for its length takes longer than to look at a byte.
  const { length } = bytes;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    switch (byte) {
      case QUOTE:
        at = stringEnd(bytes, at + 1, length);
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        if (++depth > MAX_DEPTH) throw tooDeep();
        if (++containers > MAX_CONTAINERS) throw tooMany();
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        depth--;
        break;
      case COLON:
        if (++fields > MAX_FIELDS) throw tooMany();
        break;
      default: {
        if (!isDigit(byte)) break;
        const first = at;
        while (at + 1 < length && isDigit(bytes[at + 1] as number)) at++;
        if (at + 1 - first < LONG) break;
        const start = bytes[first - 1] === MINUS ? first - 1 : first;
        if (isLongInteger(bytes, start, first, at + 1)) places.push(start, at + 1);
      }
    }
  }
  return places;
}

/** Puts a quote at each of these places: there may be millions. */
function quote(bytes: Buffer, places: readonly number[]): Buffer {
  const quoted = Buffer.allocUnsafeSlow(bytes.length + places.length);
  let at = 0;
  let size = 0;
  for (const place of places) {
    while (at < place) quoted[size++] = bytes[at++] as number;
    quoted[size++] = QUOTE;
  }
  bytes.copy(quoted, size, at);
  return quoted;
}

/** Whether a parsed value is all that its text says: it is not too deep, and no integer may have lost digits. */
function isExact(value: unknown, levels = 0): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) || !Number.isInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  if (levels === MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isExact(item, levels + 1)) return false;
    return true;
  }
  for (const key in value)
    if (!isExact((value as Record<string, unknown>)[key], levels + 1)) return false;
  return true;
}

/**
 * Parses JSON without losing a digit: an integer that a number cannot hold exactly, such as a chip number
 * of 20 digits, becomes a string. A text too short to have a million arrays, such as a record of a history, is parsed
 * first, and scanned only if what was parsed may not be exact: that takes less time.
 * @param given bytes, in UTF-8, or text that they can hold
 * @throws SyntaxError if it is not JSON; JsonLimitError, a subclass, if it exceeds a limit
 */
export function parseJson(given: Buffer | string): unknown {
  const bytes = typeof given === 'string' ? Buffer.from(given) : given;
  const json = bytes.subarray(startOfJson(bytes));
  if (json.length < MAX_CONTAINERS) {
    try {
      const value: unknown = JSON.parse(json.toString());
      if (isExact(value)) return value;
    } catch {
      // The scan may give a better error.
    }
  }
  const places = checkJson(json);
  return JSON.parse((places.length === 0 ? json : quote(json, places)).toString('utf8'));
}

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

/** Keys that stand for what JSON cannot hold. */
const BYTES = '\0bytes';
const DATE = '\0date';

/** As JSON, in which Buffers and dates survive. @throws TypeError or RangeError if it cannot be JSON */
export const encode = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key, json: unknown) {
    const raw = this[key];
    if (Buffer.isBuffer(raw)) return { [BYTES]: raw.toString('base64') };
    if (raw instanceof Date) return { [DATE]: raw.getTime() };
    return json;
  });

/** What {@link encode} has made JSON of. @throws SyntaxError */
export const decode = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown) => {
    if (!isObject(value)) return value;
    if (typeof value[BYTES] === 'string') return Buffer.from(value[BYTES], 'base64');
    if (DATE in value) return new Date((value[DATE] as number | null) ?? NaN);
    return value;
  });
