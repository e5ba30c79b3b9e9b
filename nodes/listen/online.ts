import { DeviceCloudError, type DeviceCloudClient } from '../../src/index';
import { MAX_SECONDS } from '../common/values';

/** Seconds between two readings: at the least, since the list is a call to the service, and usually. */
const MIN_REFRESH = 1;
const USUAL_REFRESH = 60;

const periodOf = (seconds: number): number =>
  Number.isNaN(seconds) ? USUAL_REFRESH : Math.min(Math.max(MIN_REFRESH, seconds), MAX_SECONDS);

/** Does not repeat what is there instead, which may be anything. */
const noChipid = (): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    'A device in the list of online devices has no valid chip number and is ignored. ' +
      "Check that the address is the service's.",
  );

/**
 * Follows the list of online devices. All nodes of an application share one poller, so it may be read more
 * often than this one asks for.
 * @param seconds from one reading to the next, at most
 * @returns stops it
 */
export function watchOnline(
  client: DeviceCloudClient,
  seconds: number,
  found: (chipids: string[]) => void,
  failed: (error: unknown) => void,
): () => void {
  return client.fleet.pollList(periodOf(seconds), {
    onReading({ devices, invalid }) {
      // Such a record must not keep the other devices from being listened to.
      if (invalid > 0) failed(noChipid());
      found([...devices.keys()]);
    },
    onReadError: failed,
  });
}
