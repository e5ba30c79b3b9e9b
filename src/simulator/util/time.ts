const isoIn = (ms: number, zone: number): string => new Date(ms + zone).toISOString();

/**
 * A time in the service's format `YYYY-MM-DD HH:MM:SS` (section 2.1).
 * @param zone milliseconds ahead of UTC
 */
export const serverTime = (ms: number, zone: number): string =>
  isoIn(ms, zone).slice(0, 19).replace('T', ' ');

/** The day of a time, `YYYYMMDD` (section 4.2.7). @param zone milliseconds ahead of UTC */
export const serverDay = (ms: number, zone: number): string =>
  isoIn(ms, zone).slice(0, 10).replaceAll('-', '');

/**
 * When a day begins, milliseconds since 1970.
 * @param text `YYYYMMDD`
 * @param zone milliseconds ahead of UTC
 * @returns undefined if there is no such day
 */
export function startOfDay(text: string, zone: number): number | undefined {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const iso = `${year}-${month}-${day}`;
  const time = Date.parse(iso);
  const exists = !Number.isNaN(time) && new Date(time).toISOString().startsWith(iso);
  return exists ? time - zone : undefined;
}
