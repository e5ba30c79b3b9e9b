import {
  areDigits,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  stringEnd,
  viewOf,
  ZERO,
} from './json-bytes';

/** Levels of arrays and objects inside each other. Node-RED copies a message with a recursive function. */
export const MAX_DEPTH = 100;
/**
 * Arrays and objects, and fields of objects, in one text. Each takes up to 200 bytes of memory, and as
 * much again in each copy of a message, however short its text is. The shortest record of the service's
 * document takes 70 bytes of text (section 2), so 64 MiB of records stay below both limits.
 */
export const MAX_CONTAINERS = 1_000_000;
export const MAX_FIELDS = 5_000_000;

/** The text is not parsed, although it may be JSON: its value would overload whatever handles it. */
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

/** What the scan does with a byte; 0 for nothing. */
const STRING = 1;
const DIGIT = 2;
const OPENING = 3;
const CLOSING = 4;
const FIELD = 5;
const KINDS = new Uint8Array(256);
KINDS[QUOTE] = STRING;
KINDS.fill(DIGIT, ZERO, ZERO + 10);
KINDS[OPEN_BRACKET] = KINDS[OPEN_BRACE] = OPENING;
KINDS[CLOSE_BRACKET] = KINDS[CLOSE_BRACE] = CLOSING;
KINDS[COLON] = FIELD;

/** For each two bytes, 0 if neither matters: those are skipped together. */
const PAIRS = new Uint8Array(65_536);
for (const [first, kind] of KINDS.entries()) {
  if (kind === 0) PAIRS.set(KINDS, first << 8);
  else PAIRS.fill(kind, first << 8, (first + 1) << 8);
}

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

  /** Scans from `at` to `stop`, and a string or number to its end. Returns the offset after it. */
  scan(at: number, stop: number): number {
    const bytes = this.#bytes;
    const view = this.#view;
    const { byteLength } = view;
    let start: number;
    while (at < stop) {
      switch (KINDS[view.getUint8(at++)]) {
        case STRING:
          at = stringEnd(bytes, at);
          break;
        case DIGIT:
          start = at - 1;
          // The last few of a short run are looked at again, and are too few to be taken for a run.
          while (at + 4 <= byteLength && areDigits(view.getInt32(at))) at += 4;
          if (at - start < LONG - 3) break;
          while (at < byteLength && KINDS[view.getUint8(at)] === DIGIT) at++;
          if (at - start < LONG) break;
          this.#addRun(start, at);
          break;
        case OPENING:
          if (++this.#depth > MAX_DEPTH) throw tooDeep();
          if (++this.#containers > MAX_CONTAINERS) throw tooMany();
          break;
        case CLOSING:
          this.#depth--;
          break;
        case FIELD:
          if (++this.#fields > MAX_FIELDS) throw tooMany();
          break;
        default:
          while (at + 1 < stop && PAIRS[view.getUint16(at)] === 0) at += 2;
      }
    }
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
 * Reads through JSON without parsing it, each byte once: JSON.parse takes several times as long. Checks
 * the limits and how it begins; anything else that is not JSON is left to JSON.parse.
 * @param bytes JSON in an encoding in which ASCII bytes stand for nothing but themselves
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
