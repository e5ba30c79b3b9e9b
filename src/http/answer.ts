import { JsonLimitError, parseJson } from '../util/json';
import type { BodyReader, Call, CallSpec } from '../protocol/call-spec';
import { answerError, notAcceptedError } from './failures';

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
  #bytes: Buffer = Buffer.alloc(0);
  #size = 0;

  /** @param limit the most bytes it may hold */
  constructor(readonly limit: number) {}

  /** Adds a chunk. @returns false, without adding it, if it does not fit */
  add(chunk: Buffer): boolean {
    const size = this.#size + chunk.length;
    if (size > this.limit) return false;
    // Most answers come in one chunk.
    if (this.#size === 0) this.#bytes = chunk;
    else this.#append(chunk, size);
    this.#size = size;
    return true;
  }

  #append(chunk: Buffer, size: number): void {
    if (size > this.#bytes.length) {
      const bytes = Buffer.allocUnsafe(
        Math.min(this.limit, Math.max(2 * this.#bytes.length, size)),
      );
      this.#bytes.copy(bytes, 0, 0, this.#size);
      this.#bytes = bytes;
    }
    chunk.copy(this.#bytes, this.#size);
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
