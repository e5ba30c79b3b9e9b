import { JsonLimitError, MAX_DEPTH, isSpace, parseJson, startOfJson, tooDeep } from '../util/json';
import type { OpenApi } from '../protocol/open-api';
import { callService } from '../http/call';
import type { HttpContext } from '../http/exchange';
import { AnswerBody } from '../http/answer';
import type { BodyReader, CallSpec, Shape } from '../protocol/call-spec';

/**
 * Is called with each record of a history, in the order of the answer: any JSON, parsed as every answer is, so that an
 * integer that a number cannot hold is a string of its digits.
 * @param size bytes that the record adds to the answer, with the comma and the white space beside it; measured only if
 *   the length of the answer is announced
 * @param length of the answer, in bytes; infinite if it is not announced
 * @returns false if no more records are needed: a long answer is ended
 */
export type RecordSink = (record: unknown, size?: number, length?: number) => unknown;

const MEBIBYTE = 1024 * 1024;

/**
 * The longest text of one record, in bytes: twice the longest frame of a channel, so that whatever can arrive live fits,
 * as Base64 or as text with each byte escaped. It limits what a hostile history can make a reading hold.
 */
const MAX_RECORD = 32 * MEBIBYTE;

/**
 * The most values in one record, which has six by the service's document (section 2.5): the event loop waits while one
 * record is parsed, and a record of 32 MiB takes up to 0.1 s as long texts, but 0.4 s as millions of values.
 */
const MAX_VALUES = 100_000;

/** The most bytes that are kept of an answer other than an array: enough for its `msg`. */
const MAX_OTHER = 64 * 1024;

/** Bytes whose records are parsed at once: a call for each record would take twice as long. */
const PIECE = 16 * 1024;
/** Braces at which the end of a piece is looked for. */
const MOST_BRACES = 1000;
/** After this many pieces that could not be parsed at once, each record of the answer is parsed alone. */
const MOST_ODD_PIECES = 4;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA_BYTE = 0x2c;

/* Kinds of bytes outside of strings: only these tell where a record ends. */
const OTHER = 0;
const STRING = 1;
const OPENING = 2;
const CLOSING = 3;
const COMMA = 4;

const KINDS = new Uint8Array(256).fill(OTHER);
for (const [characters, kind] of [
  ['"', STRING],
  ['[{', OPENING],
  [']}', CLOSING],
  [',', COMMA],
] as const) {
  for (const byte of Buffer.from(characters)) KINDS[byte] = kind;
}

const tooLarge = (what: string): JsonLimitError =>
  new JsonLimitError(
    `a list with a record of more than ${what}`,
    'No upload that arrives live has such a record: check what the service keeps of this device.',
  );

const malformed = (): SyntaxError => new SyntaxError('This is not a JSON array.');

/** What was read of a history. */
export class HistoryRead {
  /**
   * @param records that the sink was called with
   * @param bytes of the answer's body that were read
   * @param isWhole whether it was read to its end: false if the sink ended it
   */
  constructor(
    readonly records: number,
    readonly bytes: number,
    readonly isWhole: boolean,
  ) {}
}

/** An answer that is announced to be no longer, in bytes, is read to its end: it costs little, and shows everything. */
const SHORT = 512 * 1024;
/** So is one of a length that is not announced, unless it is longer than this. */
const SHORT_UNANNOUNCED = 64 * 1024;

/**
 * Finds where the last record ends that is followed by another one, between two offsets: at a brace, a comma, a brace and a
 * quote. A string may hold the same; then the text before it is not JSON.
 * @returns the offset after the closing brace; -1 without a closing brace
 */
function lastRecordEnd(bytes: Buffer, from: number, to: number): number {
  let brace = to;
  for (let tries = 0; tries < MOST_BRACES; tries++) {
    brace = bytes.lastIndexOf(OPEN_BRACE, brace - 1);
    if (brace <= from) return -1;
    let after = brace + 1;
    while (isSpace(bytes[after])) after++;
    if (bytes[after] !== QUOTE) continue;
    let before = brace - 1;
    while (isSpace(bytes[before])) before--;
    if (bytes[before--] !== COMMA_BYTE) continue;
    while (isSpace(bytes[before])) before--;
    if (before > from && bytes[before] === CLOSE_BRACE) return before + 1;
  }
  return -1;
}

/** Whether a value is an object of texts and numbers, and no integer may have lost digits. */
function isFlat(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const key in value) {
    const field = (value as Record<string, unknown>)[key];
    if (typeof field === 'object' && field !== null) return false;
    if (typeof field === 'number' && Number.isInteger(field) && !Number.isSafeInteger(field))
      return false;
  }
  return true;
}

/** What is between two records. In a text, the quote would be escaped, unless it is the end of that text. */
const BETWEEN = /\}\s*,\s*\{\s*"/;

/**
 * Measures records that are separated by commas, each with one comma. A service always writes the same text between
 * two records: searching for it is three times as fast as for a pattern.
 * @param bytes of the text
 * @param count of its records
 * @returns undefined if they are not separated in the same way, or one has a text that looks like the end of one
 */
function sizesOf(text: string, bytes: number, count: number): number[] | undefined {
  const isAscii = text.length === bytes;
  const sizes: number[] = [];
  let from = 0;
  const measure = (to: number): void => {
    sizes.push(isAscii ? to - from : Buffer.byteLength(text.slice(from, to)));
    from = to;
  };
  const between = BETWEEN.exec(text)?.[0];
  let at = between === undefined ? -1 : text.indexOf(between);
  for (; between !== undefined && at >= 0; at = text.indexOf(between, at + 1)) measure(at + 1);
  measure(text.length);
  sizes[0] = (sizes[0] ?? 0) + 1;
  return sizes.length === count ? sizes : undefined;
}

/** Parses records that are separated by commas. @returns undefined if they have to be looked at one by one */
function parseFlat(text: string): unknown[] | undefined {
  try {
    const records = JSON.parse(`[${text}]`) as unknown[];
    return records.every(isFlat) ? records : undefined;
  } catch {
    return undefined;
  }
}

/** Where in the answer the next byte is. */
type Place = 'before' | 'inside' | 'after' | 'other';

/**
 * Reads a JSON array while it arrives, element by element, in flat memory. The records that a chunk has whole are parsed
 * at once, piece by piece. Of the rest, and of whatever is not a plain record, only the end of each element is found in
 * the bytes; whether it is JSON is left to the parser, which is several times as fast as one in JavaScript.
 */
export class RecordReader implements BodyReader {
  bytes = 0;
  records = 0;
  announced = Infinity;
  readonly #sink: RecordSink;
  readonly #other = new AnswerBody(MAX_OTHER);
  #place: Place = 'before';
  #isInString = false;
  /** Whether the next byte of the string is escaped. */
  #isEscaped = false;
  /** Open arrays and objects of the element. */
  #depth = 0;
  /** Values of the element so far, less those that are alone or the last in an array or object. */
  #values = 0;
  /** The beginning of an element that did not end in its chunk. */
  #begun: AnswerBody | undefined;
  /** Pieces that could not be parsed at once. */
  #oddPieces = 0;
  #isEnough = false;
  #error: { thrown: unknown } | undefined;

  constructor(sink: RecordSink) {
    this.#sink = sink;
  }

  add(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    try {
      this.#read(chunk);
    } catch (thrown) {
      this.#error = { thrown };
    }
    return !this.#isEnough && !this.#error;
  }

  end(): unknown {
    if (this.#error) throw this.#error.thrown;
    // An error, a page or whatever else it is.
    if (this.#place === 'other') {
      const bytes = this.#other.read();
      // A byte order mark is taken off by now.
      if (startOfJson(bytes) > 0) throw malformed();
      return parseJson(bytes);
    }
    if (this.#place !== 'after' && !this.#isEnough) throw malformed();
    return new HistoryRead(this.records, this.bytes, !this.#isEnough);
  }

  #read(chunk: Buffer): void {
    // No server divides a byte order mark.
    const begin = this.bytes === chunk.length ? startOfJson(chunk) : 0;
    let at = begin;
    if (this.#place === 'before') {
      while (isSpace(chunk[at])) at++;
      if (at === chunk.length) return;
      this.#place = chunk[at] === OPEN_BRACKET ? 'inside' : 'other';
      at++;
    }
    if (this.#place === 'inside') at = this.#readElements(chunk, at);
    if (this.#place === 'other') this.#isEnough = !this.#other.add(chunk.subarray(begin));
    if (this.#place !== 'after' || this.#isEnough) return;
    while (isSpace(chunk[at])) at++;
    if (at < chunk.length) throw malformed();
  }

  /** Reads elements up to the end of the chunk or of the array. Returns the offset after it. */
  #readElements(chunk: Buffer, at: number): number {
    const { length } = chunk;
    if (!this.#begun) at = this.#readPieces(chunk, at);
    let start = at;
    if (this.#isInString) at = this.#stringEnd(chunk, at);
    while (at < length) {
      switch (KINDS[chunk[at++] as number]) {
        case STRING:
          at = this.#stringEnd(chunk, at);
          break;
        case OPENING:
          if (++this.#depth > MAX_DEPTH) throw tooDeep();
          break;
        case CLOSING:
          if (--this.#depth >= 0) break;
          if (chunk[at - 1] !== CLOSE_BRACKET) throw malformed();
          this.#place = 'after';
          this.#give(chunk, start, at - 1);
          return at;
        case COMMA: {
          if (this.#depth > 0) {
            if (++this.#values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} values`);
            break;
          }
          // The element had begun in an earlier chunk: this one may have many whole ones.
          const isNext = this.#begun !== undefined;
          this.#give(chunk, start, at - 1);
          if (this.#isEnough) return at;
          if (isNext) at = this.#readPieces(chunk, at);
          start = at;
        }
      }
    }
    if (start < length) this.#hold(chunk.subarray(start));
    return at;
  }

  /**
   * Reads the records that a chunk has whole. Returns the offset of the rest, which is the beginning of an element; the
   * length of the chunk if no more is needed.
   */
  #readPieces(chunk: Buffer, at: number): number {
    while (this.#oddPieces < MOST_ODD_PIECES) {
      const near = lastRecordEnd(chunk, at, Math.min(chunk.length, at + PIECE));
      const end =
        near < 0 ? lastRecordEnd(chunk, at, Math.min(chunk.length, at + MAX_VALUES)) : near;
      if (end < 0) return at;
      const comma = chunk.indexOf(COMMA_BYTE, end);
      const text = chunk.toString('utf8', at, comma);
      const records = parseFlat(text);
      const isMeasured = records && this.announced !== Infinity;
      const sizes = isMeasured ? sizesOf(text, comma - at, records.length) : [];
      if (!records || !sizes) {
        this.#oddPieces++;
        return at;
      }
      at = comma + 1;
      for (let index = 0; index < records.length; index++) {
        this.#pass(records[index], sizes[index] ?? 0, chunk.length - at);
        if (this.#isEnough) return chunk.length;
      }
    }
    return at;
  }

  /** @param left bytes of the chunk after the record, or after others that were parsed with it */
  #pass(record: unknown, size: number, left: number): void {
    const { announced } = this;
    this.records++;
    const short = announced === Infinity ? this.bytes - left : announced;
    const most = announced === Infinity ? SHORT_UNANNOUNCED : SHORT;
    if (this.#sink(record, size, announced) === false && short > most) this.#isEnough = true;
  }

  /** Returns the offset after the closing quote of a string that includes `at`, or the length of the chunk. */
  #stringEnd(chunk: Buffer, at: number): number {
    const { length } = chunk;
    if (this.#isEscaped) at++;
    while (at < length) {
      const byte = chunk[at++];
      if (byte === QUOTE) {
        this.#isInString = this.#isEscaped = false;
        return at;
      }
      if (byte === BACKSLASH) at++;
    }
    this.#isInString = true;
    this.#isEscaped = at > length;
    return length;
  }

  #hold(bytes: Buffer): void {
    this.#begun ??= new AnswerBody(MAX_RECORD);
    if (!this.#begun.add(bytes)) throw tooLarge(`${MAX_RECORD / MEBIBYTE} MiB`);
  }

  /** Parses an element that has ended, and calls the sink with it. */
  #give(chunk: Buffer, start: number, end: number): void {
    let text = chunk.subarray(start, end);
    if (this.#begun) {
      this.#hold(text);
      text = this.#begun.read();
      this.#begun = undefined;
    }
    // `[]` has no element; `[,]` and `[1,]` have an element that is no JSON.
    if (this.#place === 'after' && this.records === 0 && text.every(isSpace)) return;
    this.#values = 0;
    this.#pass(parseJson(text), text.length + 1, chunk.length - end);
  }
}

/**
 * Reads a device's history (section 4.2, endpoint 5) record by record, while it arrives. The answer may have any length,
 * and memory is flat.
 *
 * When the sink returns false the answer is ended, unless it is short, or its length is not announced and no more than
 * 64 KiB have come: then the sink is called with all of it. HTTP/1.1 can only do that by closing the connection, and undici opens
 * another at once; so a rest that is not known to be over 64 KiB is read and dropped instead, for a second at most.
 * Either way the call's place is free afterwards. Of a longer answer at most the rest of a chunk has been read, 64 KiB;
 * what the system had received besides is dropped with the connection.
 *
 * A failure may come after records were passed on: what the sink has kept of them is the caller's to drop or to use.
 * The call is not repeated: its owner decides about another attempt.
 * @param signal ends the reading
 * @param onRecord is called synchronously; what it throws ends the reading, which then rejects with it
 * @param ended is called when the history has answered or failed, so that another one may be read, with the milliseconds
 *   for which the service asks to wait
 * @throws DeviceCloudError `TIMEOUT` unless the first bytes come within the client's `timeout` and 64 KiB more within
 *   each further one, or after forty of them; `INVALID_RESPONSE` unless the answer is an array and each element is
 *   JSON of at most 32 MiB, 100 levels and 100,000 values; others as of any read
 */
export type StreamHistory = (
  chipid: string,
  signal: AbortSignal,
  onRecord: RecordSink,
  ended?: (retryAfter?: number) => void,
) => Promise<HistoryRead>;

const history: Shape<HistoryRead> = {
  name: 'an array',
  is: (value): value is HistoryRead => value instanceof HistoryRead,
};

/** @param timeout the client's, in ms */
export function historyStreamer(
  http: HttpContext,
  api: Pick<OpenApi, 'history'>,
  timeout: number,
): StreamHistory {
  return async (chipid, signal, onRecord, ended) => {
    const { call, build, succeeds, meaning } = api.history(chipid);
    // What had come before an abort is not passed on after it.
    const reader = new RecordReader(
      (record, ...measured) => !signal.aborted && onRecord(record, ...measured) !== false,
    );
    let retryAfter: number | undefined;
    const spec: CallSpec<HistoryRead> = {
      call,
      build,
      succeeds,
      accepts: history,
      reader,
      ...(meaning && { meaning }),
      paced: { onRetryAfter: (wait: number) => (retryAfter = wait) },
    };
    try {
      return (await callService(http, spec, timeout, signal)).body;
    } finally {
      ended?.(retryAfter);
    }
  };
}
