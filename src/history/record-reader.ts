import { AnswerBody } from '../http/answer-body';
import type { BodyReader } from '../http/exchange';
import { isSpace, JsonLimitError, MAX_DEPTH, parseJson, tooDeep } from '../util/json';

/**
 * Is called with each record of a history, in the order of the answer: any JSON, parsed as every answer is, so that an
 * integer that a number cannot hold is a string of its digits.
 * @returns false if no more records are needed: a long answer is ended
 */
export type RecordSink = (record: unknown) => unknown;

const MEBIBYTE = 1024 * 1024;

/**
 * The longest text of one record, in bytes: twice the longest frame of a channel, so that whatever can arrive live fits,
 * as Base64 or as text of which each byte is escaped. It limits what a hostile history can make a reading hold.
 */
const MAX_RECORD = 32 * MEBIBYTE;

/**
 * The most values in one record, which has six by the service's document (section 2.5): the event loop waits while one
 * record is parsed, and a record of 32 MiB takes up to 0.1 s as long texts, but 0.4 s as millions of values.
 */
const MAX_VALUES = 100_000;

/** The most bytes that are kept of an answer other than an array: enough for its `msg`. */
const MAX_OTHER = 64 * 1024;

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

/** Where in the answer the next byte is. */
type Place = 'before' | 'inside' | 'after' | 'other';

/**
 * Reads a JSON array while it arrives, element by element, in flat memory. It only finds where each element ends, in
 * the bytes of the chunk; whether an element is JSON is left to the parser, which is several times as fast as one in
 * JavaScript.
 */
export class RecordReader implements BodyReader {
  bytes = 0;
  records = 0;
  announced = Infinity;
  readonly #sink: RecordSink;
  #other = new AnswerBody(MAX_OTHER);
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
  #isEnough = false;
  #error: { thrown: unknown } | undefined;

  constructor(sink: RecordSink) {
    this.#sink = sink;
  }

  get hasBegun(): boolean {
    return this.records > 0;
  }

  restart(): void {
    this.#place = 'before';
    this.#isInString = this.#isEscaped = false;
    this.#depth = this.#values = 0;
    this.#begun = undefined;
    this.#other = new AnswerBody(MAX_OTHER);
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
    if (this.#place === 'other') return parseJson(this.#other.read());
    if (this.#place !== 'after' && !this.#isEnough) throw malformed();
    return new HistoryRead(this.records, this.bytes, !this.#isEnough);
  }

  #read(chunk: Buffer): void {
    let at = 0;
    if (this.#place === 'before') {
      while (isSpace(chunk[at])) at++;
      if (at === chunk.length) return;
      this.#place = chunk[at] === OPEN_BRACKET ? 'inside' : 'other';
      at++;
    }
    if (this.#place === 'inside') at = this.#readElements(chunk, at);
    if (this.#place === 'other') this.#isEnough = !this.#other.add(chunk);
    if (this.#place !== 'after' || this.#isEnough) return;
    while (isSpace(chunk[at])) at++;
    if (at < chunk.length) throw malformed();
  }

  /** Reads elements up to the end of the chunk or of the array. Returns the offset after it. */
  #readElements(chunk: Buffer, at: number): number {
    const { length } = chunk;
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
        case COMMA:
          if (this.#depth > 0) {
            if (++this.#values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} values`);
            break;
          }
          this.#give(chunk, start, at - 1);
          if (this.#isEnough) return at;
          start = at;
      }
    }
    if (start < length) this.#hold(chunk.subarray(start));
    return at;
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
    // `[]` has no element; `[,]` and `[1,]` have one that is no JSON.
    if (this.#place === 'after' && this.records === 0 && text.every(isSpace)) return;
    this.#values = 0;
    const record = parseJson(text);
    this.records++;
    if (this.#sink(record) === false && this.announced > SHORT) this.#isEnough = true;
  }
}
