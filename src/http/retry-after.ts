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
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date, which counts from the answer's own
 * `Date` if there is one, since the clocks may differ.
 * @param now this machine's clock, in ms
 * @returns the wait in ms, at most five minutes; undefined if there is none, or it is past or malformed
 */
export function readRetryAfter(headers: Headers, now: number): number | undefined {
  const text = headerOf(headers, 'retry-after').trim();
  const answered = parseDate(headerOf(headers, 'date'));
  const wait = SECONDS.test(text)
    ? Number(text) * 1000
    : parseDate(text) - (Number.isNaN(answered) ? now : answered);
  return wait > 0 ? Math.min(wait, MAX_WAIT) : undefined;
}
