import {
  areDigits,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  isDigit,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  stringEnd,
  viewOf,
  ZERO,
} from './json-bytes';
import { MAX_CONTAINERS, MAX_DEPTH, MAX_FIELDS, tooDeep, tooMany } from './json-limits';

/* Kinds of pairs of bytes. A single digit counts as nothing. Not imported, since V8 looks up an import at each use. */
const NOTHING = 0;
const NOTHING_FIRST = 1;
const STRING = 2;
const THEN_STRING = 3;
const DIGITS = 4;
const OPENING = 5;
const CLOSING = 6;
const FIELD = 7;

/** What one byte is, if it matters. */
const KINDS: readonly (readonly [byte: number, kind: number])[] = [
  [QUOTE, STRING],
  [OPEN_BRACKET, OPENING],
  [OPEN_BRACE, OPENING],
  [CLOSE_BRACKET, CLOSING],
  [CLOSE_BRACE, CLOSING],
  [COLON, FIELD],
];

/** What each two bytes are, by the first times 256 and the second. */
const PAIRS = new Uint8Array(65_536);
for (let first = 0; first < 256; first++) {
  for (const [second] of KINDS) PAIRS[(first << 8) | second] = NOTHING_FIRST;
  PAIRS[(first << 8) | QUOTE] = THEN_STRING;
}
for (let first = ZERO; first < ZERO + 10; first++)
  PAIRS.fill(DIGITS, (first << 8) | ZERO, (first << 8) | (ZERO + 10));
for (const [first, kind] of KINDS) PAIRS.fill(kind, first << 8, (first + 1) << 8);
// An empty string.
PAIRS[(QUOTE << 8) | QUOTE] = NOTHING;

/** What JSON begins with, as far as the first bytes show: a value, unless all of them are white space. */
const BEGINNING = /^[ \t\r\n]*(?:["\-\d[{fnt]|$)/;
const FIRST_BYTES = 256;

/** Every integer that a number cannot hold has this many digits or more. */
const LONG = 16;
/** Bytes a call: V8 optimizes a function that is called often better than one long loop. */
const PIECE = 16_384;

/**
 * Takes the runs of 16 digits or more in a piece of the text.
 * @param runs where each begins and ends; used again for the next piece
 * @param count of both
 */
type FoundRuns = (runs: Uint32Array, count: number) => void;

const NO_RUNS = new Uint32Array(0);

/** Whether a string begins here or after one space: after another string this is not JSON, and JSON.parse refuses it. */
const isBeforeString = (bytes: Buffer, at: number): boolean =>
  bytes[at] === QUOTE || (bytes[at] === SPACE && bytes[at + 1] === QUOTE);

class Scanner {
  /** Where the runs of 16 digits or more begin and end, in the piece that was last scanned. */
  runs = NO_RUNS;
  count = 0;
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #depth = 0;
  #containers = 0;
  #fields = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  /** Scans from `at` to `stop`, and a string or number to its end. Returns the offset after it; of what is not JSON, the end. */
  scan(at: number, stop: number): number {
    const bytes = this.#bytes;
    const view = this.#view;
    const last = Math.min(stop, view.byteLength - 1);
    while (at < stop) {
      switch (PAIRS[at < last ? view.getUint16(at) : view.getUint8(at) << 8]) {
        case NOTHING:
          at += 2;
          while (at < last && PAIRS[view.getUint16(at)] === NOTHING) at += 2;
          break;
        case NOTHING_FIRST:
          at++;
          break;
        case STRING:
          at = stringEnd(bytes, view, at + 1);
          if (isBeforeString(bytes, at)) return view.byteLength;
          break;
        case THEN_STRING:
          at += 2;
          // Most empty strings end here, without a call.
          at = bytes[at] === QUOTE ? at + 1 : stringEnd(bytes, view, at);
          if (isBeforeString(bytes, at)) return view.byteLength;
          break;
        case DIGITS:
          at = this.#digitsEnd(at);
          break;
        case OPENING:
          if (++this.#depth > MAX_DEPTH) throw tooDeep();
          if (++this.#containers > MAX_CONTAINERS) throw tooMany();
          at++;
          break;
        case CLOSING:
          // Not JSON, so that JSON.parse refuses it here.
          if (--this.#depth < 0) return view.byteLength;
          at++;
          break;
        case FIELD:
          if (++this.#fields > MAX_FIELDS) throw tooMany();
          at++;
      }
    }
    return at;
  }

  /** Adds a run of digits if it is long. Returns the offset after it. */
  #digitsEnd(at: number): number {
    const view = this.#view;
    const { byteLength } = view;
    // One may have been skipped with the byte before it.
    const start = at > 0 && isDigit(view.getUint8(at - 1)) ? at - 1 : at;
    at += 2;
    // The last few of a short run are scanned again, and are too few to count as a run.
    while (at + 4 <= byteLength && areDigits(view.getInt32(at))) at += 4;
    if (at - start < LONG - 3) return at;
    while (at < byteLength && isDigit(view.getUint8(at))) at++;
    if (at - start >= LONG) this.#addRun(start, at);
    return at;
  }

  /** Makes room when the first is found: most frames of a channel have none. */
  #addRun(start: number, end: number): void {
    const { length } = this.#bytes;
    if (this.runs === NO_RUNS)
      this.runs = new Uint32Array(2 * Math.ceil(Math.min(length, PIECE) / LONG));
    this.runs[this.count++] = start;
    this.runs[this.count++] = end;
  }
}

/**
 * Scans JSON without parsing it: JSON.parse takes several times as long. Checks the limits and how it begins;
 * anything else that is not JSON is left to JSON.parse, and may end the scan.
 * @param bytes JSON in an encoding in which every ASCII byte is that character
 * @param found is called with the runs of 16 digits or more outside of strings
 * @throws JsonLimitError; SyntaxError if no JSON begins like this
 */
export function scanJson(bytes: Buffer, found: FoundRuns): void {
  const { length } = bytes;
  // Saves scanning and decoding 64 MiB of, say, HTML.
  if (!BEGINNING.test(bytes.toString('latin1', 0, FIRST_BYTES))) {
    throw new SyntaxError('JSON does not begin like this.');
  }
  const scanner = new Scanner(bytes);
  for (let at = 0; at < length;) {
    at = scanner.scan(at, Math.min(length, at + PIECE));
    if (scanner.count > 0) found(scanner.runs, scanner.count);
    scanner.count = 0;
  }
}

/**
 * Checks JSON that is about to be parsed, such as an upload.
 * @throws JsonLimitError; SyntaxError if no JSON begins like this
 */
export function checkJson(bytes: Buffer): void {
  scanJson(bytes, () => undefined);
}
