import { invalidInput } from './errors';
import { show } from './show';

const DAY = /^(\d{4})(\d{2})(\d{2})$/;
const ISO = /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}.*)?$/;

const two = (part: number): string => String(part).padStart(2, '0');

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 1000 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function ofParts(parts: RegExpExecArray | null): string | undefined {
  if (!parts) return undefined;
  const [, year = '', month = '', day = ''] = parts;
  return isDay(Number(year), Number(month), Number(day)) ? `${year}${month}${day}` : undefined;
}

function ofDate(date: Date): string | undefined {
  const year = date.getFullYear();
  if (Number.isNaN(year) || year < 1000 || year > 9999) return undefined;
  return `${year}${two(date.getMonth() + 1)}${two(date.getDate())}`;
}

function dayOf(value: unknown): string | undefined {
  if (value instanceof Date) return ofDate(value);
  if (typeof value === 'number') {
    // Eight digits are meant as a day: as milliseconds they would be one of the first of 1970.
    const parts = DAY.exec(String(value));
    return parts ? ofParts(parts) : ofDate(new Date(value));
  }
  if (typeof value !== 'string') return undefined;
  const iso = ISO.exec(value);
  if (!iso) return ofParts(DAY.exec(value));
  const day = ofParts(iso);
  return day !== undefined && iso[4] !== undefined ? ofDate(new Date(value)) : day;
}

/**
 * Reads a day of the synchronisation (endpoint 7) as `YYYYMMDD`, from that form, a Date, milliseconds
 * since 1970, or ISO text. A point in time is taken as the day it falls on in this machine's time zone.
 * @param what the property, for the error
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseDay(value: unknown, what: string): string {
  const day = dayOf(value);
  if (day !== undefined) return day;
  throw invalidInput(
    `The ${what} date must be YYYYMMDD, a Date, milliseconds since 1970 or ISO text, but is ${show(value)}.`,
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
