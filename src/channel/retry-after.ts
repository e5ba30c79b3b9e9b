import type { IncomingHttpHeaders } from 'node:http';

/** The longest wait that is kept to, in ms. A service that is back before it said so is found by then. */
const MAX_WAIT = 5 * 60_000;

const SECONDS = /^\d+$/;
/** The three forms of an HTTP date begin like this. `Date.parse` takes much more: `-5`, or `1.5`. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** The oldest form of a date has no zone, and is in GMT like the others. */
const parseDate = (text: string): number =>
  DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : NaN;

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date, which counts from the answer's own
 * `Date` if there is one, since the clocks may differ.
 * @param now this machine's clock, in ms
 * @returns the wait in ms, at most five minutes; undefined if there is none, or it is past or malformed
 */
export function readRetryAfter(headers: IncomingHttpHeaders, now: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  const answered = parseDate(headers.date ?? '');
  const wait = SECONDS.test(text)
    ? Number(text) * 1000
    : parseDate(text) - (Number.isNaN(answered) ? now : answered);
  return wait > 0 ? Math.min(wait, MAX_WAIT) : undefined;
}
