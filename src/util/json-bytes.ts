/* The bytes that JSON is made of: what each is, and where a run of them ends. */

export const QUOTE = 0x22;
export const SPACE = 0x20;
export const MINUS = 0x2d;
export const ZERO = 0x30;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const BACKSLASH = 0x5c;

export const isDigit = (byte: number): boolean => byte >= ZERO && byte < ZERO + 10;

export const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** A view that reads four bytes at once, at any offset. */
export const viewOf = (bytes: Buffer): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** Four digits have the upper half 3 each, and still have it with 6 added to each. */
const UPPER = 0xf0f0f0f0 | 0;
const FOUR_ZEROS = 0x30303030;
export const areDigits = (four: number): boolean =>
  (four & UPPER) === FOUR_ZEROS && ((four + 0x06060606) & UPPER) === FOUR_ZEROS;

const UPPER_BITS = 0x80808080 | 0;
const FOUR_ONES = 0x01010101;
const FOUR_QUOTES = 0x22222222;
const FOUR_BACKSLASHES = 0x5c5c5c5c;

/** Sets the upper bit of the lowest of four bytes that is 0, and maybe of some above it. */
const zeros = (four: number): number => (four - FOUR_ONES) & ~four & UPPER_BITS;

/** After this many bytes of a string its end is searched natively: on a short one that call is slower. */
const NATIVE = 128;

/** Returns the offset of the next quote that is not escaped, or `stop` or more if that comes first. */
function quoteBefore(stop: number, bytes: Buffer, view: DataView, at: number): number {
  // Not that of the view: in this version of V8, to ask it for its length takes longer than a short string.
  const last = Math.min(stop, bytes.length - 4);
  while (at < last) {
    const four = view.getInt32(at, true);
    const marks = zeros(four ^ FOUR_QUOTES) | zeros(four ^ FOUR_BACKSLASHES);
    if (marks === 0) at += 4;
    else {
      at += (31 - Math.clz32(marks & -marks)) >> 3;
      if (view.getUint8(at) === QUOTE) return at;
      // Escapes often follow each other.
      do at += 2;
      while (at < last && view.getUint8(at) === BACKSLASH);
    }
  }
  while (at < stop) {
    const byte = view.getUint8(at);
    if (byte === QUOTE) break;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return at;
}

/** Returns the offset after the closing quote of a string that includes `at`, or the end of the text. */
export function stringEnd(bytes: Buffer, view: DataView, at: number): number {
  const stop = Math.min(bytes.length, at + NATIVE);
  const end = quoteBefore(stop, bytes, view, at);
  return end < stop ? end + 1 : longStringEnd(bytes, view, end);
}

function longStringEnd(bytes: Buffer, view: DataView, at: number): number {
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let first = quote;
    while (first > at && bytes[first - 1] === BACKSLASH) first--;
    at = quote + 1;
    if ((quote - first) % 2 === 0) return at;
    const stop = Math.min(bytes.length, at + NATIVE);
    at = quoteBefore(stop, bytes, view, at);
    if (at < stop) return at + 1;
  }
}
