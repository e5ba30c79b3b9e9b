const TIME = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/;

/**
 * Reads a time of the service, `YYYY-MM-DD HH:MM:SS` (section 2).
 * @param zone the service's time zone, `±HH:MM`
 * @returns milliseconds since 1970; undefined if it is no such time
 */
export function serviceTime(text: unknown, zone: string): number | undefined {
  const parts = typeof text === 'string' ? TIME.exec(text) : null;
  if (!parts) return undefined;
  const [, day = '', time = ''] = parts;
  const utc = new Date(`${day}T${time}Z`);
  // JavaScript reads February 30th as March 2nd.
  if (Number.isNaN(utc.getTime()) || !utc.toISOString().startsWith(`${day}T${time}`)) {
    return undefined;
  }
  return Date.parse(`${day}T${time}${zone}`);
}
