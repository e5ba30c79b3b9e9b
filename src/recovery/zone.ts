import { invalidInput } from '../errors';
import { show } from '../util/show';

const MINUTE = 60_000;
/** What zones differ by, in milliseconds. */
export const QUARTER = 15 * MINUTE;

/** Zones lie within this of UTC; a larger difference is no zone but a clock that is wrong. */
export const WIDEST = 14 * 60 * MINUTE;

const OFFSET = /^([+-])(\d{2}):([0-5]\d)$/;

/** What section 5.1 names as the server's time: Beijing's. */
export const USUAL_ZONE = '+08:00';

/**
 * Reads the offset of a time zone, such as `+08:00`.
 * @returns milliseconds ahead of UTC; undefined if it is no such offset, or one of 15 hours or more
 */
export function parseZone(text: string): number | undefined {
  if (text === 'Z') return 0;
  const [, sign, hours, minutes] = OFFSET.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE;
  if (Number(hours) > 14) return undefined;
  return sign === '-' ? -offset : offset;
}

/**
 * Reads the `zone` of a listener.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function zoneOffset(zone: unknown = USUAL_ZONE): number {
  const offset = typeof zone === 'string' ? parseZone(zone) : undefined;
  if (offset !== undefined) return offset;
  throw invalidInput(
    `The time zone of the history must be an offset such as ${USUAL_ZONE}, but is ${show(zone)}.`,
  );
}

/** An offset as text, such as `+08:00`. */
export function zoneText(offset: number): string {
  const minutes = Math.abs(offset) / MINUTE;
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Milliseconds since 1970 of a time as the history writes it, `YYYY-MM-DD HH:MM:SS`. NaN for anything else. */
export const toUnix = (text: unknown, offset: number): number =>
  typeof text === 'string' ? Date.parse(`${text.replace(' ', 'T')}Z`) - offset : NaN;

/** The other way round. */
export const fromUnix = (time: number, offset: number): string =>
  new Date(time + offset).toISOString().slice(0, 19).replace('T', ' ');

/**
 * The zone in which an upload that came live at one time stands in the history at another.
 * @param live Unix time of the live one, in milliseconds
 * @param recorded what its time in the history is, if the zone is `offset`
 * @returns milliseconds ahead of UTC; undefined if the difference is not that of a zone
 */
export function zoneOf(live: number, recorded: number, offset: number): number | undefined {
  const zone = offset + Math.round((recorded - live) / QUARTER) * QUARTER;
  return Math.abs(zone) <= WIDEST ? zone : undefined;
}
