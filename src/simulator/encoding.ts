import type { JsonObject } from '../types';
import { isObject } from '../util/json';

/** Beijing, which 5.1 calls server time, in milliseconds ahead of UTC. Assumed: the zone of every time and day (2.1, 4.2.7). */
export const SERVER_ZONE = 8 * 60 * 60 * 1000;

const isoIn = (ms: number, zone: number): string => new Date(ms + zone).toISOString();

/**
 * A time in the service's format `YYYY-MM-DD HH:MM:SS` (section 2.1).
 * @param zone milliseconds ahead of UTC
 */
export const serverTime = (ms: number, zone: number): string =>
  isoIn(ms, zone).slice(0, 19).replace('T', ' ');

/** The day of a time in Beijing, `YYYYMMDD` (section 4.2.7). */
export const serverDay = (ms: number): string =>
  isoIn(ms, SERVER_ZONE).slice(0, 10).replaceAll('-', '');

/** When a day, `YYYYMMDD`, begins in Beijing, milliseconds since 1970; undefined if there is no such day. */
export function startOfDay(text: string): number | undefined {
  const iso = text.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3');
  const time = iso === text ? NaN : Date.parse(iso);
  // Of the 30th of February JavaScript makes the first of March.
  const exists = !Number.isNaN(time) && new Date(time).toISOString().startsWith(iso);
  return exists ? time - SERVER_ZONE : undefined;
}

/** Removes the white space of ASCII alone at both ends: the server of 2016 trims bytes. */
export const trimmed = (text: string): string =>
  text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');

/**
 * Writes JSON in which a bigint is a bare integer, so that a chip number of 20 digits keeps them all
 * (section 2.1: `chipid` is an integer). JSON.stringify would throw.
 */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}

/** Reads a JSON object. @returns undefined if the text is anything else */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
