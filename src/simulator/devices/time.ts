import { SERVER_ZONE } from '../assumptions';

const serverIso = (ms: number): string => new Date(ms + SERVER_ZONE).toISOString();

/** A time in the service's format `YYYY-MM-DD HH:MM:SS` (section 2.1). */
export const serverTime = (ms: number): string => serverIso(ms).slice(0, 19).replace('T', ' ');

/** The server's day of a time, `YYYYMMDD` (section 4.2.7). */
export const serverDay = (ms: number): string => serverIso(ms).slice(0, 10).replaceAll('-', '');

/** Whether a text is `YYYYMMDD` of a day that exists. */
export function isDay(text: string): boolean {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const iso = `${year}-${month}-${day}`;
  const time = Date.parse(iso);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(iso);
}
