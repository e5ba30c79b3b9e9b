import { JsonLimitError, parseJson } from '../util/json';
import {
  answerError,
  notAcceptedError,
  type Call,
  type Refusal,
  type StatusMeaning,
} from './failures';

/** A request before it is signed: nothing of it is secret. */
export interface UnsignedRequest {
  method: string;
  path: string;
  /** Of the open API. */
  params?: Readonly<Record<string, string>>;
  /** Of the server API: percent-encoded, and JSON. */
  query?: string;
  body?: string | undefined;
}

/** A request ready to be sent: every part validated and encoded, since undici loses a slot to a bad one. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT';
  /** Path and query, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface HttpAnswer {
  statusCode: number;
  /** Possibly only its beginning, if the status is an error or the body is compressed. */
  body: Buffer;
  /** What has read the body in place of `body`. */
  reader: BodyReader | undefined;
  /** The value of `Content-Encoding`, if there is one other than `identity`. */
  encoding: string | undefined;
  /** The header `Date`: the clock of the service, or of the proxy that answered. */
  date: string | undefined;
  /** Milliseconds for which it asks to wait (`Retry-After`), if its status is an error. */
  retryAfter: number | undefined;
}

/** Reads the body of a success while it arrives. Nothing of it is collected, so its length needs no limit. */
export interface BodyReader {
  /** Bytes that have arrived. */
  readonly bytes: number;
  /** Set to the length of the answer, in bytes; infinite if the service does not announce it. */
  announced: number;
  /** Takes the next bytes. Never throws. @returns false if no more are needed: the answer is ended */
  add(chunk: Buffer): boolean;
  /**
   * Returns what the answer is, once it has ended or `add` has returned false.
   * @throws SyntaxError if it is not JSON; JsonLimitError, a subclass, if it exceeds a limit
   */
  end(): unknown;
}

/** One call: how to sign its request, and what its answer has to be. */
export interface CallSpec<T> {
  call: Call;
  unsigned?: UnsignedRequest;
  /** Makes the request, freshly signed each time. */
  build: () => HttpRequest;
  /** Which statuses are a success. */
  succeeds: (statusCode: number) => boolean;
  /** The shape of the answer's JSON. */
  accepts: Shape<T>;
  /**
   * Reads the body of a success, which is not empty; default: as JSON.
   * @throws SyntaxError if the body must be JSON and is not
   */
  decode?: (body: Buffer, statusCode: number) => unknown;
  /** What to check if the body is empty or cannot be read; default: the address. */
  advice?: string;
  /** Why an answer of the right shape is not a success; undefined if it is one. */
  refusal?: ((answer: T) => Refusal | undefined) | undefined;
  /** What makes it doubtful that a success is one, as a sentence without secrets. */
  warning?: ((answer: T) => string | undefined) | undefined;
  /** What a status that is not a success means to this call; undefined: what it usually means. */
  meaning?: (statusCode: number, said: string | undefined) => StatusMeaning | undefined;
  /**
   * Reads the body of a success while it arrives, however long it is. The time-out then runs until the first bytes,
   * and again while the answer makes progress; once something was passed on the call is not repeated.
   */
  reader?: BodyReader;
  /** Set if the caller paces its attempts: then the call is not repeated, even if it only reads. */
  paced?: {
    /** Is called with the milliseconds for which an answer that failed asks to wait. */
    onRetryAfter: ((wait: number) => void) | undefined;
  };
}

/** The shape that an answer must have. */
export interface Shape<T> {
  is: (value: unknown) => value is T;
  /** What it is, for the error: `an array of objects`. */
  name: string;
}

/** Removes secrets from what the service says. */
type Redact = (text: string) => string;

/** The `msg` of an answer, which section 7 puts into errors. The public server of 2016 also writes `MSG`. */
function msgOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { msg, MSG } = value as { msg?: unknown; MSG?: unknown };
  const said = typeof msg === 'string' ? msg : MSG;
  return typeof said === 'string' ? said : undefined;
}

/**
 * What an error says: its `msg`. The errors of the server API are not shown (section 7): without a `msg`
 * to repeat, the whole text.
 */
export function serviceText(
  { body, encoding }: HttpAnswer,
  { api }: Pick<Call, 'api'>,
  redact: Redact,
): string | undefined {
  if (encoding !== undefined) return undefined;
  let said: string | undefined;
  try {
    said = msgOf(parseJson(body));
  } catch {
    // Not JSON.
  }
  if (api === 'server' && (said === undefined || said.trim() === '')) said = body.toString('utf8');
  // Redacted first: a secret may contain white space.
  return said === undefined ? undefined : redact(said.trim()).replace(/\s+/g, ' ').trim();
}

function parseAnswer<T>(spec: CallSpec<T>, { statusCode, body, reader }: HttpAnswer): unknown {
  if ((reader?.bytes ?? body.length) === 0) {
    if (spec.call.api === 'server') return null;
    throw answerError(spec.call, 'the answer is empty', statusCode, spec);
  }
  try {
    if (reader) return reader.end();
    return spec.decode ? spec.decode(body, statusCode) : parseJson(body);
  } catch (error) {
    // What a caller's sink has thrown.
    if (reader && !(error instanceof SyntaxError)) throw error;
    if (error instanceof JsonLimitError) {
      const { what, advice } = error;
      throw answerError(spec.call, `the answer is ${what}`, statusCode, { advice });
    }
    throw answerError(spec.call, 'the answer is not JSON', statusCode, spec);
  }
}

/**
 * Reads the answer of a call whose status is a success.
 * @throws DeviceCloudError `INVALID_RESPONSE` or `NOT_ACCEPTED`
 */
export function readAnswer<T>(spec: CallSpec<T>, answer: HttpAnswer, redact: Redact): T {
  const { call, accepts } = spec;
  const { statusCode, encoding } = answer;
  if (encoding !== undefined) {
    throw answerError(call, 'the answer is compressed, though nobody asked for it', statusCode);
  }
  const value = parseAnswer(spec, answer);
  if (!accepts.is(value)) {
    const msg = msgOf(value);
    const more = msg === undefined ? {} : { said: redact(msg) };
    throw answerError(call, `the answer is not ${accepts.name}`, statusCode, more);
  }
  const refusal = spec.refusal?.(value);
  if (refusal !== undefined) {
    const { what, said } = refusal;
    const shown = said === undefined ? { what } : { what, said: redact(said) };
    throw notAcceptedError(call, shown, statusCode);
  }
  return value;
}

/**
 * Collects the chunks of an answer in one buffer, which doubles. A list of them would need a hundred
 * bytes or more for each: an answer in chunks of one byte would fill the heap long before its limit.
 */
export class AnswerBody {
  #bytes = Buffer.alloc(0);
  #size = 0;

  /** @param limit the most bytes it may hold */
  constructor(readonly limit: number) {}

  /** Adds a chunk. @returns false, without adding it, if it does not fit */
  add(chunk: Buffer): boolean {
    const size = this.#size + chunk.length;
    if (size > this.limit) return false;
    if (size > this.#bytes.length) {
      const bytes = Buffer.allocUnsafe(
        Math.min(this.limit, Math.max(2 * this.#bytes.length, size)),
      );
      this.#bytes.copy(bytes, 0, 0, this.#size);
      this.#bytes = bytes;
    }
    chunk.copy(this.#bytes, this.#size);
    this.#size = size;
    return true;
  }

  read(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }
}

/** The longest wait, in ms, so that a service that is back earlier than it announced is noticed. */
const MAX_WAIT = 5 * 60_000;

const SECONDS = /^\d+$/;
/** The three forms of an HTTP date begin like this. `Date.parse` accepts much more: `-5`, or `1.5`. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** The oldest form of a date has no zone, and is in GMT like the others. */
const parseDate = (text: string): number =>
  DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : NaN;

/** The headers of an answer, as Node.js and undici give them. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Of a repeated header, the first value. */
const headerOf = (headers: Headers, name: string): string => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
};

/**
 * Reads `Retry-After` of a 429 or 503 (RFC 9110, section 10.2.3): seconds, or a date, which counts from the answer's own
 * `Date` if there is one, since the clocks may differ.
 * @param now this machine's clock, in ms
 * @returns the wait in ms, at most five minutes; undefined if it does not ask to wait, or the header is missing, malformed or in the past
 */
export function readRetryAfter(
  statusCode: number,
  headers: Headers,
  now: number,
): number | undefined {
  if (statusCode !== 429 && statusCode !== 503) return undefined;
  const text = headerOf(headers, 'retry-after').trim();
  const answered = parseDate(headerOf(headers, 'date'));
  const wait = SECONDS.test(text)
    ? Number(text) * 1000
    : parseDate(text) - (Number.isNaN(answered) ? now : answered);
  return wait > 0 ? Math.min(wait, MAX_WAIT) : undefined;
}

/** The header has whole seconds, rounded down: half a second is the best estimate of the rest. */
const HALF_SECOND = 500;

/** The service's clock, by the latest `Date` header, of refusals too. */
export class ServiceClock {
  /** Whether an answer has come, or an event with a time. */
  isKnown = false;
  readonly #now: () => number;
  readonly #monotonic: () => number;
  #latest = NaN;
  /** When that came, by this machine's clock, which may be set, and by the monotonic one. */
  #at = 0;
  #came = 0;
  /** Are called once it is known. */
  #waiting: (() => void)[] = [];

  constructor(now: () => number, monotonic = (): number => performance.now()) {
    this.#now = now;
    this.#monotonic = monotonic;
  }

  saw(date: string): void {
    this.isKnown = true;
    this.#latest = Date.parse(date) + HALF_SECOND;
    this.#at = this.#now();
    this.#came = this.#monotonic();
    if (this.#waiting.length === 0 || this.time() === undefined) return;
    for (const known of this.#waiting.splice(0)) known();
  }

  /** The time of an event, which counts if there was no answer. */
  sawEvent(ms: number): void {
    if (!this.isKnown && ms > 0) this.saw(new Date(ms).toUTCString());
  }

  /** Calls a function once the time is known: now, if it is. */
  whenKnown(known: () => void): void {
    if (this.time() === undefined) this.#waiting.push(known);
    else known();
  }

  /** Milliseconds since 1970, whatever this machine's clock says; undefined before the first answer and the first upload. */
  time(): number | undefined {
    const time = this.#latest + this.#monotonic() - this.#came;
    return Number.isNaN(time) ? undefined : time;
  }

  /** Milliseconds, in whole seconds, that the service is ahead of this machine; undefined before the first answer. */
  skew(): number | undefined {
    const ahead = 1000 * Math.round((this.#latest - this.#at) / 1000);
    return Number.isNaN(ahead) ? undefined : ahead;
  }
}
