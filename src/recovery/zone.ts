import { invalidInput } from '../errors';
import { show } from '../util/show';

const MINUTE = 60_000;
/** Offsets of zones are multiples of this, in milliseconds. */
export const QUARTER = 15 * MINUTE;

/** The largest offset of a zone. A larger difference means that a clock is wrong. */
export const WIDEST = 14 * 60 * MINUTE;

const OFFSET = /^([+-])(\d{2}):([0-5]\d)$/;

/** Beijing time, which section 5.1 names as the server's. */
export const USUAL_ZONE = '+08:00';
export const USUAL_OFFSET = 8 * 60 * MINUTE;

/**
 * Reads the offset of a time zone, such as `+08:00`.
 * @returns milliseconds ahead of UTC; undefined if it is malformed, or 15 hours or more
 */
export function parseZone(text: string): number | undefined {
  if (text === 'Z') return 0;
  const [, sign, hours, minutes] = OFFSET.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE;
  if (Number(hours) > 14) return undefined;
  return sign === '-' ? -offset : offset;
}

/** Reads the `zone` of a listener. @throws DeviceCloudError `INVALID_INPUT` */
export function zoneOffset(zone: unknown): number {
  const offset = typeof zone === 'string' ? parseZone(zone) : undefined;
  if (offset !== undefined) return offset;
  throw invalidInput(
    `The time zone of the history must be an offset such as ${USUAL_ZONE}, but is ${show(zone)}.`,
  );
}

/**
 * Reads the `zone` of a listener.
 * @returns milliseconds ahead of UTC; undefined for `auto`: then it is learned
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export const parseZoneSetting = (zone: unknown = 'auto'): number | undefined =>
  zone === 'auto' ? undefined : zoneOffset(zone);

/** An offset as text, such as `+08:00`. */
export function zoneText(offset: number): string {
  const minutes = Math.abs(offset) / MINUTE;
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** `YYYY-MM-DD HH:MM:SS` (section 2). */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
/** A time as the service writes it, which can be compared as text; empty unless it is one. */
export const timeOf = (time: unknown): string =>
  typeof time === 'string' && TIME.test(time) ? time : '';

/** A number of two digits in a text; NaN beyond its end. */
const twoDigits = (text: string, at: number): number =>
  (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
const ZERO = 0x30;

const parseTime = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`);

/**
 * Milliseconds since 1970 of a time as the history writes it, `YYYY-MM-DD HH:MM:SS`. NaN for anything else. Nearly all are
 * plain times, for which `Date.UTC` takes a fifth of the time of `Date.parse`.
 */
export function toUnix(text: unknown, offset: number): number {
  if (typeof text !== 'string') return NaN;
  const [year, month] = [twoDigits(text, 0) * 100 + twoDigits(text, 2), twoDigits(text, 5)];
  const [day, hour] = [twoDigits(text, 8), twoDigits(text, 11)];
  const [minute, second] = [twoDigits(text, 14), twoDigits(text, 17)];
  // `Date.UTC` takes the year 26 for 1926, and the thirteenth month for the next year's first.
  const isUsual = year >= 100 && month > 0 && month <= 12 && day > 0 && day <= 28;
  if (!isUsual || !(hour < 24 && minute < 60 && second < 60) || !TIME.test(text))
    return parseTime(text) - offset;
  return Date.UTC(year, month - 1, day, hour, minute, second) - offset;
}

/** The inverse of {@link toUnix}. */
export const fromUnix = (time: number, offset: number): string =>
  new Date(time + offset).toISOString().slice(0, 19).replace('T', ' ');

/**
 * The zone of the history, from an upload that came live as well.
 * @param live Unix time of the live upload, in milliseconds
 * @param recorded its Unix time in the history, read with the zone `offset`
 * @returns milliseconds ahead of UTC; undefined if the difference is too large for a zone
 */
export function zoneOf(live: number, recorded: number, offset: number): number | undefined {
  const zone = offset + Math.round((recorded - live) / QUARTER) * QUARTER;
  return Math.abs(zone) <= WIDEST ? zone : undefined;
}
