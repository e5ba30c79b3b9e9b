import type { Answer, DeviceRecord } from '../types';
import { isDeviceCloudError } from '../errors';
import { callWithin, type HttpContext } from '../http/call';
import { DEVICE_LISTS, type OpenApi } from './open-api';

/** Lists the online devices. */
export type ListDevices = (
  http: HttpContext,
  seconds: number,
  signal?: AbortSignal,
) => Promise<Answer<DeviceRecord[]>>;

/**
 * The service's document shows `devices/list/` and `devices/lists/` and does not say which is
 * accepted: a 404 of one leads to the other, and the one that answered is remembered.
 */
export function deviceLister(api: OpenApi): ListDevices {
  let known = 0;

  return async (http, seconds, signal) => {
    const first = DEVICE_LISTS[known] ?? DEVICE_LISTS[0];
    // One deadline for both attempts.
    const deadline = http.deadlines.start(seconds, signal);
    try {
      return await callWithin(http, api.devices(first), deadline);
    } catch (error) {
      if (!isDeviceCloudError(error, 'NOT_FOUND')) throw error;
      const other = (known + 1) % DEVICE_LISTS.length;
      const second = DEVICE_LISTS[other] ?? DEVICE_LISTS[1];
      try {
        const answer = await callWithin(http, api.devices(second), deadline);
        known = other;
        return answer;
      } catch (next) {
        // Neither answers. What the first says may be about the application (section 7).
        throw isDeviceCloudError(next, 'NOT_FOUND') ? error : next;
      }
    } finally {
      deadline.clear();
    }
  };
}
