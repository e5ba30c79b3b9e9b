/** Milliseconds. */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The most days that a status counts. */
const MAX_DAYS = 99;

/**
 * The status text for an upload that arrived some time ago: a key of the catalogue, of which the build makes one
 * for each number.
 * @param age milliseconds
 * @returns undefined for the first minute, in which there is nothing to say
 */
export function agoText(age: number): string | undefined {
  const text = (unit: 'min' | 'h' | 'd', length: number): string =>
    `status.upload-${unit}-${Math.floor(age / length)}`;
  if (age < MINUTE) return undefined;
  if (age < HOUR) return text('min', MINUTE);
  if (age < DAY) return text('h', HOUR);
  return age < (MAX_DAYS + 1) * DAY ? text('d', DAY) : 'status.upload-d-more';
}
