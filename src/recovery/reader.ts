import { isObject, isSpace, JsonLimitError, parseJson, startOfJson, stringEnd } from '../util/json';
import type { OpenApi } from '../protocol/open-api';
import { callService } from '../http/call';
import type { HttpContext } from '../http/exchange';
import { AnswerBody } from '../http/answer';
import type { BodyReader, CallSpec, Shape } from '../protocol/call-spec';

/**
 * Is called with each record of a history, in the order of the answer. If its `id` or `dev` is an integer that a number
 * cannot hold, it is a string of its digits.
 * @param size bytes that the record adds to a long answer, with the comma and the white space beside it; undefined if the
 *   answer is short, or of no announced length
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
 * The most values in a piece of a megabyte or more, which is one long record: the event loop waits while it is parsed, 0.1 s for
 * 32 MiB as long texts, but up to 2 s as millions of values.
 */
const LONG_PIECE = MEBIBYTE;
const MAX_VALUES = 100_000;

/** The most bytes that are kept of an answer other than an array: enough for its `msg`. */
const MAX_OTHER = 64 * 1024;

/** About how many bytes of records are parsed at once: a call for each record would take twice as long. */
const PIECE = 16 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** An answer that is announced to be no longer, in bytes, is read to its end: it costs little, and shows everything. */
const SHORT = 512 * 1024;
/** So is one of a length that is not announced, unless it is longer than this: the first read of a socket, less a piece. */
const SHORT_UNANNOUNCED = 48 * 1024;

/** What was read of a history. */
export interface HistoryRead {
  /** How many the sink was called with. */
  readonly records: number;
  /** Of the answer's body. */
  readonly bytes: number;
  /** Whether it was read to its end: false if the sink ended it. */
  readonly isWhole: boolean;
}

const keepsDigits = (value: unknown): boolean =>
  typeof value !== 'number' || Number.isSafeInteger(value);

/** Whether a byte after a quote shows that a string begins there: after the end of one it would be no JSON. */
const isInString = (byte = 0): boolean =>
  byte > 0x20 && byte !== COMMA && byte !== COLON && (byte | 0x20) !== CLOSE_BRACE;

/** Whether no integer of it that is used may have lost digits. */
const isExact = (record: unknown): boolean =>
  !isObject(record) || (keepsDigits(record['id']) && keepsDigits(record['dev']));

const tooLarge = (what: string): JsonLimitError =>
  new JsonLimitError(
    `a list with a record of more than ${what}`,
    'No upload that arrives live has such a record: check what the service keeps of this device.',
  );

/** @throws JsonLimitError */
function checkValues(bytes: Buffer): void {
  let values = 0;
  // To ask a Buffer for its length takes longer than to look at a byte.
  const { length } = bytes;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at + 1, length);
    else if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) values++;
    if (values > MAX_VALUES) throw tooLarge('100,000 values');
  }
}

/** Parses an array of records. @throws SyntaxError */
function parseRecords(bytes: Buffer): unknown[] {
  if (bytes.length >= LONG_PIECE) checkValues(bytes);
  const records = JSON.parse(bytes.toString()) as unknown[];
  return records.every(isExact) ? records : (parseJson(bytes) as unknown[]);
}

function afterSpace(bytes: Buffer, at: number): number {
  while (isSpace(bytes[at])) at++;
  return at;
}

/**
 * Finds where a record begins, unless it is the first, by what is around: `}`, a comma, `{` and a name. That is never inside a string,
 * in which a quote has a backslash before it or is the last character. It may be inside a record, of which a list is a part.
 * @returns its offset; -1 if no record begins after `from`
 */
function nextRecord(bytes: Buffer, from: number): number {
  for (
    let at = bytes.indexOf(CLOSE_BRACE, from);
    at >= 0;
    at = bytes.indexOf(CLOSE_BRACE, at + 1)
  ) {
    const comma = afterSpace(bytes, at + 1);
    if (bytes[comma] !== COMMA) continue;
    const next = afterSpace(bytes, comma + 1);
    if (bytes[next] !== OPEN_BRACE) continue;
    const quote = afterSpace(bytes, next + 1);
    if (bytes[quote] === QUOTE && isInString(bytes[quote + 1])) return next;
  }
  return -1;
}

function isAfterBrace(bytes: Buffer, at: number): boolean {
  while (isSpace(bytes[at - 1])) at--;
  return bytes[at - 1] === CLOSE_BRACE;
}

/** The same, if records may have lists of objects: what is open is counted from where a record begins, behind one byte. */
function nextOutside(bytes: Buffer, begin: number, from: number): number {
  let opened = 0;
  const { length } = bytes;
  for (let at = begin + 1; at < length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = stringEnd(bytes, at + 1, length);
    else if ((byte | 0x20) === OPEN_BRACE) opened++;
    else if ((byte | 0x20) === CLOSE_BRACE) opened--;
    else if (byte === COMMA && opened === 0 && at >= from && isAfterBrace(bytes, at)) {
      const next = afterSpace(bytes, at + 1);
      return next < length ? next : -1;
    }
  }
  return -1;
}

/** @returns the bytes of each record with what follows it; undefined if that is not clear, since records are in records */
function sizesOf(bytes: Buffer, count: number): number[] | undefined {
  const sizes: number[] = [];
  for (let from = 0; from < bytes.length;) {
    const next = nextRecord(bytes, from);
    const end = next < 0 ? bytes.length : next;
    sizes.push(end - from);
    from = end;
  }
  return sizes.length === count ? sizes : undefined;
}

/**
 * Reads a JSON array of records while it arrives, in flat memory: in pieces that end where a record ends. What is JSON is left
 * to `JSON.parse`.
 */
export class RecordReader implements BodyReader, HistoryRead {
  bytes = 0;
  records = 0;
  isWhole = true;
  announced = Infinity;
  readonly #sink: RecordSink;
  #isArray: boolean | undefined;
  /** What has come and was not passed on yet: of an array, with one byte before the next record. */
  #rest = new AnswerBody(MAX_RECORD);
  /** After how many bytes of that the end of a record is looked for. */
  #piece = PIECE;
  /** A record has lists of objects. */
  #isNested = false;
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
    const rest = this.#rest.read();
    // An error, a page or whatever else it is.
    if (!this.#isArray) return parseJson(rest);
    if (this.isWhole) {
      rest[0] = OPEN_BRACKET;
      this.#pass(parseRecords(rest), rest.subarray(1), this.bytes);
    }
    return this;
  }

  #read(chunk: Buffer): void {
    if (!this.#rest.add(chunk)) throw tooLarge(`${MAX_RECORD / MEBIBYTE} MiB`);
    const rest = this.#rest.read();
    if (this.#isArray === undefined) {
      const at = afterSpace(rest, startOfJson(rest));
      if (at < rest.length) this.#isArray = rest[at] === OPEN_BRACKET;
      if (this.#isArray) this.#keep(rest.subarray(at));
    }
    if (this.#isArray) this.#readPieces(this.#rest.read());
    else this.isWhole = rest.length <= MAX_OTHER;
  }

  #keep(rest: Buffer): void {
    this.#rest = new AnswerBody(MAX_RECORD);
    this.#rest.add(rest);
  }

  /** Passes on all but the end. Brackets around a piece make it an array: the bytes there are not needed any more. */
  #readPieces(bytes: Buffer): void {
    let from = 0;
    while (this.isWhole && from + this.#piece < bytes.length) {
      const next = this.#isNested
        ? nextOutside(bytes, from, from + this.#piece)
        : nextRecord(bytes, from + this.#piece);
      if (next >= 0 && this.#readPiece(bytes, from, next)) {
        from = next - 1;
        this.#piece = PIECE;
      } else if (this.#isNested) this.#piece = 2 * (bytes.length - from);
      // It has ended inside of a record.
      else if (next >= 0) this.#isNested = true;
      else {
        // A long record, which is not searched again and again: only from its last brace on.
        this.#piece = Math.max(this.#piece, bytes.lastIndexOf(CLOSE_BRACE) - from);
        break;
      }
    }
    if (from > 0) this.#keep(bytes.subarray(from));
  }

  /** @returns false if the record before `next` is a part of another one */
  #readPiece(bytes: Buffer, from: number, next: number): boolean {
    const end = bytes.lastIndexOf(CLOSE_BRACE, next) + 1;
    const separator = bytes[end] as number;
    bytes[from] = OPEN_BRACKET;
    bytes[end] = CLOSE_BRACKET;
    let records: unknown[];
    try {
      records = parseRecords(bytes.subarray(from, end + 1));
    } catch (error) {
      if (error instanceof JsonLimitError) throw error;
      bytes[end] = separator;
      return false;
    }
    this.#pass(records, bytes.subarray(from + 1, next), this.bytes - bytes.length + next);
    return true;
  }

  /** @param bytes of these records @param end how much of the answer has been passed on with them, in bytes */
  #pass(records: readonly unknown[], bytes: Buffer, end: number): void {
    const { announced } = this;
    const isAnnounced = announced < Infinity;
    const isShort = isAnnounced ? announced <= SHORT : end <= SHORT_UNANNOUNCED;
    const sizes = isAnnounced && !isShort ? sizesOf(bytes, records.length) : undefined;
    for (let place = 0; place < records.length; place++) {
      this.records++;
      if (this.#sink(records[place], sizes?.[place], announced) !== false || isShort) continue;
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
 * 48 KiB have come: then the sink is called with all of it. HTTP/1.1 can only do that by closing the connection, and undici opens
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
 *   each further one, or after forty of them; `INVALID_RESPONSE` unless the answer is an array of elements of at
 *   most 32 MiB, and of at most 100,000 values in a long one; others as of any read
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
      (record, size, length) => !signal.aborted && onRecord(record, size, length) !== false,
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
