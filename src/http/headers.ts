import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/* The headers that this client sends, or reads for more than one purpose. */

interface Manifest {
  name: string;
  version: string;
}

const UNKNOWN: Manifest = { name: 'node-red-device-cloud', version: '0' };

/** Whether a name or version is valid in a User-Agent, which must not contain the word robot (section 4.2, rule 5). */
const isToken = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w.+-]+$/.test(value) && !/robot/i.test(value);

/**
 * Reads the name and the version of a manifest. In a program that bundles this package, the nearest manifest is the one of
 * the program, which may be incomplete: invalid values are replaced by the defaults.
 */
export function readManifest(text: string): Manifest {
  const { name, version } = Object(JSON.parse(text)) as { name?: unknown; version?: unknown };
  // The `@` and `/` of a scope are invalid in a User-Agent.
  const bare = typeof name === 'string' ? name.replace(/^.*\//, '') : undefined;
  return {
    name: isToken(bare) ? bare : UNKNOWN.name,
    version: isToken(version) ? version : UNKNOWN.version,
  };
}

/** The manifest of the package that contains this file, at any depth. */
function nearestManifest(folder: string): Manifest {
  try {
    return readManifest(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    const parent = dirname(folder);
    return parent === folder ? UNKNOWN : nearestManifest(parent);
  }
}

const manifest = nearestManifest(__dirname);

/** Section 4.2, rule 5: clients send their own User-Agent. */
export const USER_AGENT = `${manifest.name}/${manifest.version}`;

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

/** Remembers the latest `Date` header, for the difference between the clocks. */
export interface ServiceClock {
  saw(date: string): void;
  /** Seconds that the service is ahead; undefined before the first answer. */
  skew(): number | undefined;
}

export function createServiceClock(now: () => number): ServiceClock {
  let latest = '';
  let at = 0;
  return {
    // Parsed only when it is needed: this runs for every answer.
    saw(date) {
      latest = date;
      at = now();
    },
    skew() {
      const time = Date.parse(latest);
      return Number.isNaN(time) ? undefined : Math.round((time + HALF_SECOND - at) / 1000);
    },
  };
}
