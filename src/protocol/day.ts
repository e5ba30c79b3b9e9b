import { invalidInput } from '../errors';
import { show } from '../util/show';
import { readInput } from './values';

/** The offset of the server's time zone in milliseconds: section 5.1 names Beijing time. */
const BEIJING = 8 * 60 * 60_000;

const DAY = /^(\d{4})(\d{2})(\d{2})$/;
const ISO = /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}.*)?$/;

/** Which end of a period a day is. */
type End = 'begin' | 'end';

/** The day of a point in time in UTC, `YYYYMMDD`; undefined if its year cannot be written so. */
function utcDay(ms: number): string | undefined {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  if (!(year >= 1000 && year <= 9999)) return undefined;
  return date.toISOString().slice(0, 10).replaceAll('-', '');
}

/** Undefined unless there is such a day. */
function ofParts(parts: RegExpExecArray | null): string | undefined {
  if (!parts) return undefined;
  const [, year = '', month = '', day = ''] = parts;
  const text = `${year}${month}${day}`;
  return utcDay(Date.UTC(Number(year), Number(month) - 1, Number(day))) === text ? text : undefined;
}

/** Of the days of a point in time, here and in Beijing, the earlier to begin with or the later to end. */
function ofDate(date: Date, end: End): string | undefined {
  const ms = date.getTime();
  const here = utcDay(ms - date.getTimezoneOffset() * 60_000);
  const there = utcDay(ms + BEIJING);
  if (here === undefined || there === undefined) return undefined;
  const [first, last] = here < there ? [here, there] : [there, here];
  return end === 'begin' ? first : last;
}

function dayOf(value: unknown, end: End): string | undefined {
  if (value instanceof Date) return ofDate(value, end);
  if (typeof value === 'number') {
    // Eight digits are meant as a day: as milliseconds they would be one of the first of 1970.
    const parts = DAY.exec(String(value));
    return parts ? ofParts(parts) : ofDate(new Date(value), end);
  }
  if (typeof value !== 'string') return undefined;
  const iso = ISO.exec(value);
  if (!iso) return ofParts(DAY.exec(value));
  const day = ofParts(iso);
  return day !== undefined && iso[4] !== undefined ? ofDate(new Date(value), end) : day;
}

/**
 * Reads a day of the synchronisation (endpoint 7) as `YYYYMMDD`, from that form, a Date, milliseconds
 * since 1970, or ISO text. The service's days are not shown, its server has Beijing time (section 5.1):
 * so a point in time begins a period on the earlier of its days here and in Beijing, and ends it on the
 * later one. A caller can drop records that it does not need, but cannot add those it never requested.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseDay(value: unknown, end: End): string {
  const day = readInput(`${end} date`, () => dayOf(value, end));
  if (day !== undefined) return day;
  throw invalidInput(
    `The ${end} date must be YYYYMMDD, a Date, milliseconds since 1970 or ISO text, but is ${show(value)}.`,
  );
}

/**
 * Reads the two days of a synchronisation.
 * @throws DeviceCloudError `INVALID_INPUT` if one is no date, or the end comes before the beginning
 */
export function parsePeriod(begin: unknown, end: unknown): [begin: string, end: string] {
  const days: [string, string] = [parseDay(begin, 'begin'), parseDay(end, 'end')];
  if (days[0] <= days[1]) return days;
  throw invalidInput(`The end date ${days[1]} is before the begin date ${days[0]}.`);
}

/** The day after a day, `YYYYMMDD`; undefined after the last day that can be written so. */
export function dayAfter(day: string): string | undefined {
  const [, year, month, date] = DAY.exec(day) ?? [];
  return utcDay(Date.UTC(Number(year), Number(month) - 1, Number(date) + 1));
}

const TIME = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/;

/**
 * The day in Beijing of a time as the service writes it (section 2), `YYYYMMDD`.
 * @param zone milliseconds that the time is ahead of UTC
 * @returns undefined if it is not such a time
 */
export function dayOfTime(time: unknown, zone: number): string | undefined {
  const [, day = '', clock = ''] = (typeof time === 'string' && TIME.exec(time)) || [];
  return utcDay(Date.parse(`${day}T${clock}Z`) - zone + BEIJING);
}
