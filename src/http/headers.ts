/* The headers that this client sends, or reads for more than one purpose. */

const { name, version } = require('../../../package.json') as { name: string; version: string };

/** Of this package. */
export const VERSION = version;

/** Section 4.2, rule 5: clients send their own User-Agent. The `@` and `/` of a scope are invalid in one. */
export const USER_AGENT = `${name.replace(/^.*\//, '')}/${version}`;

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
  readonly #now: () => number;
  readonly #monotonic: () => number;
  #latest = '';
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
    // Parsed only when it is needed: this runs for every answer.
    this.#latest = date;
    this.#at = this.#now();
    this.#came = this.#monotonic();
    if (this.#waiting.length === 0 || this.time() === undefined) return;
    for (const known of this.#waiting.splice(0)) known();
  }

  /** The time of an event, which counts if there was no answer. */
  sawEvent(ms: number): void {
    if (this.#latest === '' && ms > 0) this.saw(new Date(ms).toUTCString());
  }

  /** Calls a function once the time is known: now, if it is. */
  whenKnown(known: () => void): void {
    if (this.time() === undefined) this.#waiting.push(known);
    else known();
  }

  /** Milliseconds since 1970, whatever this machine's clock says; undefined before the first answer. */
  time(): number | undefined {
    const time = this.#latest === '' ? NaN : Date.parse(this.#latest);
    return Number.isNaN(time) ? undefined : time + HALF_SECOND + this.#monotonic() - this.#came;
  }

  /** Milliseconds, in whole seconds, that the service is ahead of this machine; undefined before the first answer. */
  skew(): number | undefined {
    const time = Date.parse(this.#latest);
    return Number.isNaN(time)
      ? undefined
      : 1000 * Math.round((time + HALF_SECOND - this.#at) / 1000);
  }
}
