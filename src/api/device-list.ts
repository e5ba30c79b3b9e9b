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

/** Not any `NOT_FOUND`: a service may say with another status that something is unknown to it. */
const is404 = (error: unknown): boolean =>
  isDeviceCloudError(error, 'NOT_FOUND') && error.statusCode === 404;

/**
 * The service's document shows `devices/list/` and `devices/lists/` and does not say which is
 * accepted: a 404 of one leads to the other, and the one that answered is remembered.
 * @param onAnswer is called with the address that answered
 */
export function deviceLister(
  api: OpenApi,
  onAnswer?: (path: (typeof DEVICE_LISTS)[number]) => void,
): ListDevices {
  let known = 0;

  return async (http, seconds, signal) => {
    // Another call may change what is known while this one waits for its answer.
    const other = (known + 1) % DEVICE_LISTS.length;
    const first = DEVICE_LISTS[known] ?? DEVICE_LISTS[0];
    // One deadline for both attempts.
    const deadline = http.deadlines.start(seconds, signal);
    try {
      const answer = await callWithin(http, api.devices(first), deadline);
      onAnswer?.(first);
      return answer;
    } catch (error) {
      if (!is404(error)) throw error;
      const second = DEVICE_LISTS[other] ?? DEVICE_LISTS[1];
      try {
        const answer = await callWithin(http, api.devices(second), deadline);
        known = other;
        onAnswer?.(second);
        return answer;
      } catch (next) {
        // Neither answers. What the first says may be about the application (section 7).
        if (is404(next)) throw error;
        // An answer that is no list comes from the right address all the same.
        if (isDeviceCloudError(next, 'INVALID_RESPONSE')) known = other;
        throw next;
      }
    } finally {
      deadline.clear();
    }
  };
}
