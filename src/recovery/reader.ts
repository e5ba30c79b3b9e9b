import { JsonLimitError, MAX_DEPTH, isSpace, parseJson, startOfJson, tooDeep } from '../util/json';
import type { OpenApi } from '../protocol/open-api';
import { callService } from '../http/call';
import type { HttpContext } from '../http/exchange';
import { AnswerBody } from '../http/answer';
import type { BodyReader, CallSpec, Shape } from '../protocol/call-spec';

/**
 * Is called with each record of a history, in the order of the answer: any JSON, parsed as every answer is, so that an
 * integer that a number cannot hold is a string of its digits.
 * @param size bytes that the record adds to the answer, with the comma and the white space beside it
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

/** About how many bytes of records are parsed at once: a call for each record would take twice as long. */
const PIECE = 16 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

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
export interface HistoryRead {
  /** How many the sink was called with. */
  readonly records: number;
  /** Of the answer's body. */
  readonly bytes: number;
  /** Whether it was read to its end: false if the sink ended it. */
  readonly isWhole: boolean;
}

/** An answer that is announced to be no longer, in bytes, is read to its end: it costs little, and shows everything. */
const SHORT = 512 * 1024;
/** So is one of a length that is not announced, unless it is longer than this. */
const SHORT_UNANNOUNCED = 64 * 1024;

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

/** Parses records that are separated by commas. @returns undefined if they have to be looked at one by one */
function parseFlat(text: string, count: number): unknown[] | undefined {
  try {
    const records = JSON.parse(`[${text}]`) as unknown[];
    return records.length === count && records.every(isFlat) ? records : undefined;
  } catch {
    return undefined;
  }
}

/** Where in the answer the next byte is. */
type Place = 'before' | 'inside' | 'after' | 'other';

/**
 * Reads a JSON array while it arrives, element by element, in flat memory. Only the end of each element is found in the
 * bytes; whether it is JSON is left to the parser, which is several times as fast as one in JavaScript, and gets many elements
 * at once.
 */
export class RecordReader implements BodyReader, HistoryRead {
  bytes = 0;
  records = 0;
  isWhole = true;
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
    return this.isWhole && !this.#error;
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
    if (this.#place !== 'after' && this.isWhole) throw malformed();
    return this;
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
    if (this.#place === 'other') this.isWhole = this.#other.add(chunk.subarray(begin));
    if (this.#place !== 'after' || !this.isWhole) return;
    while (isSpace(chunk[at])) at++;
    if (at < chunk.length) throw malformed();
  }

  /** Reads elements up to the end of the chunk or of the array. Returns the offset after it. */
  #readElements(chunk: Buffer, at: number): number {
    const { length } = chunk;
    let from = at;
    /** Where elements end that begin at `from` and are not passed on yet. */
    let ends: number[] = [];
    if (this.#isInString) {
      this.#isInString = false;
      at = this.#stringEnd(chunk, this.#isEscaped ? at + 1 : at, length);
    }
    while (at < length) {
      switch (KINDS[chunk[at++] as number]) {
        case STRING:
          at = this.#stringEnd(chunk, at, length);
          break;
        case OPENING:
          if (++this.#depth > MAX_DEPTH) throw tooDeep();
          break;
        case CLOSING:
          if (--this.#depth >= 0) break;
          if (chunk[at - 1] !== CLOSE_BRACKET) throw malformed();
          this.#place = 'after';
          this.#pass(chunk, from, [...ends, at - 1]);
          return at;
        case COMMA:
          if (this.#depth > 0) {
            if (++this.#values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} values`);
            break;
          }
          this.#values = 0;
          ends.push(at - 1);
          if (at - from < PIECE && !this.#begun) break;
          this.#pass(chunk, from, ends);
          if (!this.isWhole) return at;
          [from, ends] = [at, []];
      }
    }
    const last = ends.at(-1);
    if (last !== undefined) {
      this.#pass(chunk, from, ends);
      from = last + 1;
    }
    if (from < length && this.isWhole) this.#hold(chunk.subarray(from));
    return at;
  }

  /** Returns the offset after the closing quote of a string that includes `at`, or the length of the chunk. */
  #stringEnd(chunk: Buffer, at: number, length: number): number {
    while (at < length) {
      const byte = chunk[at++];
      if (byte === QUOTE) return at;
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

  /** Parses elements, of which the first may have begun in an earlier chunk, and calls the sink with each. */
  #pass(chunk: Buffer, from: number, ends: readonly number[]): void {
    const { announced } = this;
    const parsed = this.#begun
      ? undefined
      : parseFlat(chunk.toString('utf8', from, ends.at(-1)), ends.length);
    for (const [index, end] of ends.entries()) {
      let size = end - from;
      let record = parsed?.[index];
      if (!parsed) {
        let text = chunk.subarray(from, end);
        if (this.#begun) {
          this.#hold(text);
          text = this.#begun.read();
          this.#begun = undefined;
        }
        // `[]` has no element; `[,]` and `[1,]` have an element that is no JSON.
        const isAlone = this.#place === 'after' && this.records === 0 && ends.length === 1;
        if (isAlone && text.every(isSpace)) return;
        size = text.length;
        record = parseJson(text);
      }
      from = end + 1;
      this.records++;
      const length = announced === Infinity ? this.bytes - chunk.length + end : announced;
      const short = announced === Infinity ? SHORT_UNANNOUNCED : SHORT;
      if (this.#sink(record, size + 1, announced) !== false || length <= short) continue;
      this.isWhole = false;
      return;
    }
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
  is: (value): value is HistoryRead => value instanceof RecordReader,
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
