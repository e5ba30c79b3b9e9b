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

/** JSON without a byte order mark. */
export const withoutMark = <T extends Buffer | string>(json: T): T => {
  const start = typeof json === 'string' ? Number(json.startsWith('\uFEFF')) : startOfJson(json);
  return (start === 0 ? json : json.slice(start)) as T;
};

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
function stringEnd(bytes: Buffer, at: number, length: number): number {
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
  let [at, size] = [0, 0];
  for (const place of places) {
    while (at < place) quoted[size++] = bytes[at++] as number;
    quoted[size++] = QUOTE;
  }
  bytes.copy(quoted, size, at);
  return quoted;
}

/** The same for text, which may hold what UTF-8 cannot, such as a lone surrogate. */
function quoteText(text: string): string {
  // A byte for each unit, so that the places are the same.
  const places = checkJson(Buffer.from(text.replace(/[^\0-\x7f]/g, '?')));
  return [0, ...places].map((place, index) => text.slice(place, places[index])).join('"');
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
 * @param given bytes, in UTF-8, or text
 * @throws SyntaxError if it is not JSON; JsonLimitError, a subclass, if it exceeds a limit
 */
export function parseJson(given: Buffer | string): unknown {
  const json = withoutMark(given);
  if (json.length < MAX_CONTAINERS) {
    try {
      const value: unknown = JSON.parse(json.toString());
      if (isExact(value)) return value;
    } catch {
      // The scan may give a better error.
    }
  }
  if (typeof json === 'string') return JSON.parse(quoteText(json));
  const places = checkJson(json);
  return JSON.parse((places.length === 0 ? json : quote(json, places)).toString('utf8'));
}
