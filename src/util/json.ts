import { scanJson, viewOf } from './json-scan';

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;
const LAST_SAFE = Buffer.from(String(Number.MAX_SAFE_INTEGER));

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
/** Nothing at all stands before and after a number that is the whole text. */
const isBefore = (byte: number | undefined): boolean =>
  byte === COMMA || byte === COLON || byte === OPEN_BRACKET || byte === undefined || isSpace(byte);
const isAfter = (byte: number | undefined): boolean =>
  byte === COMMA ||
  byte === CLOSE_BRACE ||
  byte === CLOSE_BRACKET ||
  byte === undefined ||
  isSpace(byte);

/** Compares digits, as many as the last safe integer has or more. */
function isSafe(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > LAST_SAFE.length) return false;
  for (let at = 0; at < LAST_SAFE.length; at++) {
    const difference = (bytes[start + at] as number) - (LAST_SAFE[at] as number);
    if (difference !== 0) return difference < 0;
  }
  return true;
}

/**
 * Whether a row of digits is an integer, all of it, in the place of a value. Quoted, it is a string,
 * which may stand wherever a number may, and as a name, too: quoting must not mend what is not JSON.
 */
function isInteger(bytes: Buffer, start: number, first: number, end: number): boolean {
  if (bytes[first] === ZERO || !isBefore(bytes[start - 1]) || !isAfter(bytes[end])) return false;
  while (isSpace(bytes[end])) end++;
  return bytes[end] !== COLON;
}

/** Calls back with where each integer is, its sign included, that a number would not hold. */
function findLongIntegers(bytes: Buffer, found: (start: number, end: number) => void): void {
  scanJson(bytes, (first, end) => {
    const start = bytes[first - 1] === MINUS ? first - 1 : first;
    if (isInteger(bytes, start, first, end) && !isSafe(bytes, first, end)) found(start, end);
  });
}

/** A call copies long pieces faster, a loop short ones. */
const SHORT = 256;

/** Copies bytes one piece after the other, and puts quotes between them. */
class Quoting {
  readonly #from: Buffer;
  readonly #to: Buffer;
  readonly #fromView: DataView;
  readonly #toView: DataView;
  #copied = 0;
  #size = 0;

  /** @param quotes how many there will be at most */
  constructor(bytes: Buffer, quotes: number) {
    this.#from = bytes;
    this.#to = Buffer.allocUnsafeSlow(bytes.length + quotes);
    this.#fromView = viewOf(bytes);
    this.#toView = viewOf(this.#to);
  }

  copyUntil(end: number): void {
    let copied = this.#copied;
    let size = this.#size;
    if (end - copied > SHORT) {
      this.#from.copy(this.#to, size, copied, end);
      size += end - copied;
      copied = end;
    }
    for (; copied + 4 <= end; copied += 4, size += 4) {
      this.#toView.setInt32(size, this.#fromView.getInt32(copied));
    }
    while (copied < end) this.#to[size++] = this.#from[copied++] as number;
    this.#copied = copied;
    this.#size = size;
  }

  quote(): void {
    this.#to[this.#size++] = QUOTE;
  }

  end(): Buffer {
    this.copyUntil(this.#from.length);
    return this.#to.subarray(0, this.#size);
  }
}

/** Puts quotes around long integers, in a copy if there are any. */
function quoteInBytes(bytes: Buffer): Buffer {
  let quoting: Quoting | undefined;
  findLongIntegers(bytes, (start, end) => {
    // Each takes 17 bytes at least, with what parts it from the next.
    quoting ??= new Quoting(bytes, 2 * Math.ceil((bytes.length - start) / 17));
    quoting.copyUntil(start);
    quoting.quote();
    quoting.copyUntil(end);
    quoting.quote();
  });
  return quoting?.end() ?? bytes;
}

/** The same in text, which may hold what UTF-8 can't, such as a half of a surrogate pair. */
function quoteInText(text: string): string {
  const bytes = Buffer.allocUnsafe(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = Math.min(text.charCodeAt(at), 0x80);
  const pieces: string[] = [];
  let copied = 0;
  findLongIntegers(bytes, (start, end) => {
    pieces.push(text.slice(copied, start), text.slice(start, end));
    copied = end;
  });
  if (pieces.length === 0) return text;
  pieces.push(text.slice(copied));
  return pieces.join('"');
}

/**
 * Parses JSON without losing a digit: an integer beyond the safe ones, such as a chip number of 20
 * digits, becomes a string. Nothing in it is nested deeper than 100 levels, and there are bounds to how
 * many arrays, objects and fields it has: both are checked before anything is parsed.
 * @param json bytes, in UTF-8, or text
 * @throws SyntaxError if it is not JSON; JsonLimitError, which is one, if it is beyond a limit
 */
export function parseJson(json: Buffer | string): unknown {
  const quoted = typeof json === 'string' ? quoteInText(json) : quoteInBytes(json).toString('utf8');
  return JSON.parse(quoted) as unknown;
}
