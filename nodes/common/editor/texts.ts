/** Texts without values: a list of devices asks for the same few again and again, and each search takes long. */
const known = new Map<string, string>();

/** Text in the reader's language, from this node's message catalogue. */
export function t(key: string, values?: Record<string, unknown>): string {
  const text = known.get(key);
  if (text !== undefined && values === undefined) return text;
  const found = RED._(`${CATALOGUE}:${key}`, values);
  // A missing one may be loaded later.
  if (values === undefined && !found.endsWith(key)) known.set(key, found);
  return found;
}

/** A text with what it is about before it, with the language's own colon. */
export const said = (what: string, text: string): string => t('common.said', { what, text });

/**
 * Line ends, control characters, halves of characters, and what changes the direction of the text after it:
 * with them a name could look like another one, or change how the number beside it reads.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text from outside as the editor may show it, on one line and in its own direction. */
export const plain = (text: string): string => text.replace(UNSAFE, '\ufffd');

/** The same of each text in a value of JSON. */
export function plainAll<T>(value: T): T {
  if (typeof value === 'string') return plain(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plainAll) as T;
  const fields = Object.entries(value as Record<string, unknown>);
  return Object.fromEntries(fields.map(([name, each]) => [plain(name), plainAll(each)])) as T;
}

/** Units of an age, the longest first, in seconds. */
const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/**
 * How long ago something was, in one unit: `12 s ago`, `5 min ago`.
 * @param at Unix time in milliseconds, by the clock of this browser
 */
export function ageText(at: number, now = Date.now()): string {
  return t('common.ago', { age: elapsed(at, now) });
}

/** The time from a moment until now, in the largest unit of which it has one: `5 min`. */
export function elapsed(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  const [unit, length] = UNITS.find(([, least]) => seconds >= least) ?? ['s', 1];
  return t(`common.age.${unit}`, { n: Math.floor(seconds / length) });
}

const DAY = 86_400_000;

/** The time of day of a moment, to the second; of another day the date, too. */
export function clockText(at: number, now: number): string {
  if (Math.abs(now - at) >= DAY) return localTime(at);
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  return inLanguage((language) => new Date(at).toLocaleTimeString(language, time));
}

/** A moment as a date and a time where the reader is, in the editor's language. */
export const localTime = (at: number): string =>
  inLanguage((language) => new Date(at).toLocaleString(language));

function inLanguage(format: (language?: string) => string): string {
  try {
    return format(RED.i18n.lang());
  } catch {
    // The browser does not know that language.
    return format();
  }
}
