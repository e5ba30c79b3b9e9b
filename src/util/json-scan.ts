/** Levels of arrays and objects inside each other. Node-RED copies a message with a recursive function. */
export const MAX_DEPTH = 100;
/**
 * Arrays and objects, and fields of objects, in one text. Each takes up to 200 bytes of memory, and as
 * much again in each copy of a message, however short its text is. The shortest record of the service's
 * document takes 70 bytes of text (section 2), so 64 MiB of records stay below both limits.
 */
export const MAX_CONTAINERS = 1_000_000;
export const MAX_FIELDS = 5_000_000;

/** The text is not parsed, although it may be JSON: its value would be too much for what handles it. */
export class JsonLimitError extends SyntaxError {
  override readonly name = 'JsonLimitError';
  /**
   * @param what ends the sentence "the answer is …"
   * @param advice what to do about it
   */
  constructor(
    readonly what: string,
    readonly advice: string,
  ) {
    super(`The JSON is ${what}.`);
  }
}

const tooDeep = (): JsonLimitError =>
  new JsonLimitError(
    `nested deeper than ${MAX_DEPTH} levels`,
    'Have whoever makes it, such as the firmware of the device, nest it less deeply.',
  );

const tooMany = (): JsonLimitError =>
  new JsonLimitError(
    'of more than 1,000,000 arrays and objects, or 5,000,000 fields',
    'Ask for less at a time, such as fewer days.',
  );

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
const FOUR_SPACES = 0x20202020;
const ZERO = 0x30;
const NINE = 0x39;
/** `[` and `{` differ in this bit alone, as do `]` and `}`. */
const CURLY = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Rows of digits are mostly short: of one that is not, four at once are looked at. */
const FEW = 8;
/** So many digits may be too many for a number: the safe integers end within 16. */
const LONG = 16;
/** After so many bytes of a string its end is searched natively: for a few, that call takes longer. */
const NATIVE = 128;

/** A view through which four bytes are read at once, at any place. */
export const viewOf = (bytes: Buffer): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

/** Four digits have the upper half 3 each, and still have it with 6 added to each. */
const UPPER = 0xf0f0f0f0 | 0;
const FOUR_ZEROS = 0x30303030;
const areDigits = (four: number): boolean =>
  (four & UPPER) === FOUR_ZEROS && ((four + 0x06060606) & UPPER) === FOUR_ZEROS;

/** Where a row of digits ends that goes on at `at`. */
function digitsEnd(view: DataView, at: number): number {
  const { byteLength } = view;
  while (at + 4 <= byteLength && areDigits(view.getInt32(at))) at += 4;
  while (at < byteLength && isDigit(view.getUint8(at))) at++;
  return at;
}

/** Where a string ends that goes on at `at`: its closing quote, or the end of the text. */
function stringEnd(bytes: Buffer, at: number): number {
  const { length } = bytes;
  while (at < length) {
    for (const stop = Math.min(length, at + NATIVE); at < stop; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at++;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) break;
    let first = quote;
    while (first > at && bytes[first - 1] === BACKSLASH) first--;
    if ((quote - first) % 2 === 0) return quote;
    at = quote + 1;
  }
  return length;
}

/**
 * Reads through JSON without parsing it, a byte at a time and at most once: JSON.parse takes several
 * times as long. Nothing is checked but the limits: what is not JSON is left for JSON.parse to refuse.
 * @param bytes JSON in an encoding in which ASCII bytes stand for nothing but themselves
 * @param found is called with the start and the end of each row of 16 digits or more outside of strings
 * @throws JsonLimitError
 */
export function scanJson(bytes: Buffer, found: (start: number, end: number) => void): void {
  const { length } = bytes;
  const view = viewOf(bytes);
  let depth = 0;
  let containers = 0;
  let fields = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = stringEnd(bytes, at + 1);
    } else if (isDigit(byte)) {
      const start = at;
      while (at + 1 < length && isDigit(bytes[at + 1] as number) && at - start < FEW) at++;
      if (at - start === FEW) {
        const end = digitsEnd(view, at);
        if (end - start >= LONG) found(start, end);
        at = end - 1;
      }
    } else if ((byte | CURLY) === OPENING) {
      if (++depth > MAX_DEPTH) throw tooDeep();
      if (++containers > MAX_CONTAINERS) throw tooMany();
    } else if ((byte | CURLY) === CLOSING) {
      depth--;
    } else if (byte === COLON) {
      if (++fields > MAX_FIELDS) throw tooMany();
    } else if (byte === SPACE) {
      while (at + 4 < length && view.getInt32(at + 1) === FOUR_SPACES) at += 4;
    }
  }
}

/**
 * Checks JSON that is about to be parsed, say an upload.
 * @throws JsonLimitError
 */
export function checkJson(bytes: Buffer): void {
  scanJson(bytes, () => undefined);
}
