import type { RequestRecord } from '../../src/simulator';

const LOOK = 100;

/** Counts requests before the simulator forgets them, until the process ends. */
export function createCounter(requests: readonly RequestRecord[]) {
  const open = new Set<RequestRecord>();
  const devicesRead = new Set<string>();
  let lastSeen: RequestRecord | undefined;
  let upgrades = 0;
  let readings = 0;

  const look = (): void => {
    const from = lastSeen === undefined ? 0 : requests.lastIndexOf(lastSeen) + 1;
    for (const request of requests.slice(from)) open.add(request);
    lastSeen = requests.at(-1);
    for (const request of open) {
      const device = /up_messages\/dev\/(\d+)/.exec(request.path)?.[1];
      if (request.status === 101) upgrades++;
      else if (request.status === 200 && device !== undefined) {
        readings++;
        devicesRead.add(device);
      }
      // Without a status it may still get one; with one it is done.
      if (request.status !== 0 || Date.now() - request.at > 30_000) open.delete(request);
    }
  };
  setInterval(look, LOOK);
  return () => ({ upgrades, readings, devicesRead: devicesRead.size });
}
