import type { DeviceCloudClient } from '../../src/client';

/** Seconds between two readings at the least: the list is a call to the service. */
const MIN_REFRESH = 1;

/**
 * Reads the list of online devices now and then every so many seconds, until it is stopped.
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

  const read = async (): Promise<void> => {
    try {
      const { body } = await client.devices({ signal: abort.signal });
      if (!abort.signal.aborted) found(body.map(({ chipid }) => String(chipid)));
    } catch (error) {
      if (!abort.signal.aborted) failed(error);
    }
    if (!abort.signal.aborted) timer = setTimeout(run, Math.max(MIN_REFRESH, seconds) * 1000);
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
