import { isDeviceCloudError } from '../errors';
import { callWithin } from './call';
import type { HttpContext } from './exchange';
import type { Deadline } from './deadline';
import { dayAfter, dayOfTime } from '../protocol/day';
import type { Answer, DeviceRecord, SyncRecord } from '../types';
import { DEVICE_LISTS, type OpenApi } from '../protocol/open-api';

/*
 * Two reads. The service's document leaves something of them open, so that each may take further requests. They share one
 * deadline, and what the answers have shown is remembered.
 */

type DeviceList = (typeof DEVICE_LISTS)[number];

/** Lists the online devices. @param timeout milliseconds for all requests together */
export type ListDevices = (
  timeout: number,
  signal?: AbortSignal,
) => Promise<Answer<DeviceRecord[]>>;

/** Not any `NOT_FOUND`: a service may say with another status that something is unknown to it. */
const is404 = (error: unknown): boolean =>
  isDeviceCloudError(error, 'NOT_FOUND') && error.statusCode === 404;

/**
 * The service's document shows `devices/list/` and `devices/lists/` and does not say which is
 * accepted: a 404 of one leads to the other, and the address that answered is remembered.
 * @param onAnswer is called with the address that answered
 */
export function deviceLister(
  http: HttpContext,
  api: OpenApi,
  onAnswer?: (path: DeviceList) => void,
): ListDevices {
  /** The one that has answered comes first. */
  let paths: readonly [DeviceList, DeviceList] = DEVICE_LISTS;

  async function list(deadline: Deadline): Promise<Answer<DeviceRecord[]>> {
    // Another call may change them while this one waits for its answer.
    const [first, second] = paths;
    const ask = async (path: DeviceList): Promise<Answer<DeviceRecord[]>> => {
      const answer = await callWithin(http, api.devices(path), deadline);
      onAnswer?.(path);
      return answer;
    };
    try {
      return await ask(first);
    } catch (error) {
      if (!is404(error)) throw error;
      try {
        const answer = await ask(second);
        paths = [second, first];
        return answer;
      } catch (next) {
        // Neither answers. What the first says may be about the application (section 7).
        if (is404(next)) throw error;
        // An answer that is no list comes from the right address all the same.
        if (isDeviceCloudError(next, 'INVALID_RESPONSE')) paths = [second, first];
        throw next;
      }
    }
  }

  return (...limits) => http.deadlines.run(list, ...limits);
}

/** Reads all uploads between two days, both included, as `YYYYMMDD`. */
export type SyncDays = (
  begin: string,
  end: string,
  timeout: number,
  signal?: AbortSignal,
) => Promise<Answer<SyncRecord[]>>;

type Records = readonly SyncRecord[];

function isDescending(records: Records): boolean {
  const first = records[0]?.create_time;
  const last = records.at(-1)?.create_time;
  return first !== undefined && last !== undefined && first > last;
}

/** The records that are not among others. */
function without(records: Records, others: Records): Records {
  const known = new Set(others.map((record) => JSON.stringify(record)));
  return records.filter((record) => !known.has(JSON.stringify(record)));
}

/** The same in the order in which the service gives each of them. */
const inOrder = (earlier: Records, later: Records): SyncRecord[] =>
  isDescending(earlier) || isDescending(later) ? [...later, ...earlier] : [...earlier, ...later];

/**
 * Reads the uploads between two days (section 4.2, endpoint 7). Whether the end day is included is not shown; the
 * public server of 2016 does not include it. So the end day is requested once more, with the day after: if both answers
 * have a record in common, the end day is included, which is remembered; otherwise the records of the end day are added. If some
 * of these may be of the day after, as far as their times tell, that day is requested alone: on a service that includes the
 * end day it shows which. The times alone decide nothing, since clock and zone may be wrong: no record of the days that were
 * asked for is ever left out.
 * @param zoneOf milliseconds that the service's times are ahead of UTC
 */
export function daySync(http: HttpContext, api: OpenApi, zoneOf: () => number): SyncDays {
  let isEndIncluded = false;

  async function read(begin: string, end: string, deadline: Deadline): Promise<Records> {
    try {
      return (await callWithin(http, api.sync(begin, end), deadline)).body;
    } catch (error) {
      // A service need not accept a day that is yet to come.
      if (isDeviceCloudError(error, 'BAD_REQUEST', 'NOT_FOUND')) return [];
      throw error;
    }
  }

  async function sync(begin: string, end: string, deadline: Deadline): ReturnType<SyncDays> {
    const asked = await callWithin(http, api.sync(begin, end), deadline);
    const next = dayAfter(end);
    if (isEndIncluded || next === undefined) return asked;
    const last = await read(end, next, deadline);
    const ofEnd = without(last, asked.body);
    if (ofEnd.length < last.length) {
      isEndIncluded = true;
      return asked;
    }
    const zone = zoneOf();
    const isLater = last.some(({ create_time }) => (dayOfTime(create_time, zone) ?? next) > end);
    const later = isLater ? await read(next, next, deadline) : [];
    return { ...asked, body: inOrder(asked.body, without(ofEnd, later)) };
  }

  return (begin, end, ...limits) =>
    http.deadlines.run((deadline) => sync(begin, end, deadline), ...limits);
}
