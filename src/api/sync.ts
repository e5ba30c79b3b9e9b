import { isDeviceCloudError } from '../errors';
import { callWithin, type HttpContext } from '../http/call';
import type { Deadline } from '../http/deadline';
import { dayAfter, dayOfTime } from '../input/day';
import type { Answer, SyncRecord } from '../types';
import type { OpenApi } from './open-api';

/** Reads all uploads between two days, both included, as `YYYYMMDD`. */
export type SyncDays = (
  http: HttpContext,
  begin: string,
  end: string,
  seconds: number,
  signal?: AbortSignal,
) => Promise<Answer<SyncRecord[]>>;

type Records = readonly SyncRecord[];

/** Whether the newest records come first. */
function isDescending(records: Records): boolean {
  const [first, last] = [records[0]?.create_time, records.at(-1)?.create_time];
  return first !== undefined && last !== undefined && first > last;
}

/** The same in the order in which the service gives each of them. */
const inOrder = (earlier: Records, later: Records): SyncRecord[] =>
  isDescending(earlier) || isDescending(later) ? [...later, ...earlier] : [...earlier, ...later];

/**
 * Reads the uploads between two days (section 4.2, endpoint 7). Whether the end day is included is not shown; the
 * public server of 2016 does not include it. So the end day is requested once more, with the day after: if both answers
 * have a record in common, the end day is included, which is remembered; otherwise the records of the end day are added. No record of the days that were asked for is ever left out.
 * @param zoneOf milliseconds that the service's times are ahead of UTC
 */
export function daySync(api: OpenApi, zoneOf: () => number): SyncDays {
  let isEndIncluded = false;

  async function readEnd(http: HttpContext, end: string, deadline: Deadline): Promise<Records> {
    const next = dayAfter(end);
    if (isEndIncluded || next === undefined) return [];
    try {
      return (await callWithin(http, api.sync(end, next), deadline)).body;
    } catch (error) {
      // A service need not accept a day that is yet to come.
      if (isDeviceCloudError(error, 'BAD_REQUEST', 'NOT_FOUND')) return [];
      throw error;
    }
  }

  return async (http, begin, end, seconds, signal) => {
    // One deadline for both requests.
    const deadline = http.deadlines.start(seconds, signal);
    try {
      const asked = await callWithin(http, api.sync(begin, end), deadline);
      const last = await readEnd(http, end, deadline);
      const known = new Set(asked.body.map((record) => JSON.stringify(record)));
      if (last.some((record) => known.has(JSON.stringify(record)))) {
        isEndIncluded = true;
        return asked;
      }
      const zone = zoneOf();
      const ofEnd = last.filter(({ create_time }) => {
        const day = dayOfTime(create_time, zone);
        return day !== undefined && day <= end;
      });
      return { ...asked, body: inOrder(asked.body, ofEnd) };
    } finally {
      deadline.clear();
    }
  };
}
