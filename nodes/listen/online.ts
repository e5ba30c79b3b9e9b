import { DeviceCloudError, type DeviceCloudClient, type DeviceRecord } from '../../src/index';
import { parseChipid } from '../../src/input';
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
    'A device in the list of online devices has no proper chip number, and is not listened to. ' +
      "Check that the address is the service's.",
  );

/**
 * Reads the list of online devices, now and again whenever the period has passed.
 * @param seconds from one reading to the next
 * @returns stops it
 */
export function watchOnline(
  client: DeviceCloudClient,
  seconds: number,
  found: (chipids: string[]) => void,
  failed: (error: unknown) => void,
): () => void {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  /** A record without a proper chip number must not keep the other devices from being listened to. */
  const readChipid = ({ chipid }: DeviceRecord): string[] => {
    try {
      return [parseChipid(chipid)];
    } catch {
      failed(noChipid());
      return [];
    }
  };

  const read = async (): Promise<void> => {
    try {
      const { body } = await client.devices({ signal: abort.signal });
      if (!abort.signal.aborted) found(body.flatMap(readChipid));
    } catch (error) {
      if (!abort.signal.aborted) failed(error);
    }
    if (!abort.signal.aborted) timer = setTimeout(run, periodOf(seconds) * 1000);
  };
  const run = (): void => {
    read().catch(failed);
  };

  run();
  return () => {
    abort.abort();
    clearTimeout(timer);
  };
}
