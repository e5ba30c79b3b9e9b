import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { DeviceCloudClient } from '../../src/client';
import { IDENTITY } from '../identity';
import { MISSED } from '../service/readings';
import { bareReconnecting } from './bare-reconnecting';
import { bareReader } from './history-readers';
import { fail } from './node-red';

/** Devices whose channels end, and come back. */
export interface Outage {
  /** Resolves when each device has come back once from now on, and what it needs of its history has been read. */
  isBack(): Promise<void>;
  close(): unknown;
}

/** Counts devices that are back. */
class Roll {
  #due = new Set<string>();
  #done: () => void = () => undefined;

  constructor(private readonly chipids: readonly string[]) {}

  all(): Promise<void> {
    this.#due = new Set(this.chipids);
    return new Promise((resolve) => (this.#done = resolve));
  }

  tick(chipid: string): void {
    if (this.#due.delete(chipid) && this.#due.size === 0) this.#done();
  }
}

/** The least that it takes: bare `ws`, which reconnects, and undici's `Pool`, which reads the first 64 KB of a history. */
export async function bareOutage(
  baseUrl: string,
  packageFolder: string,
  chipids: readonly string[],
): Promise<Outage> {
  const roll = new Roll(chipids);
  const reader = await bareReader(baseUrl);
  const openMore = await bareReconnecting(baseUrl, packageFolder, (chipid) => {
    reader.read(chipid, 1).then(
      () => roll.tick(chipid),
      (error) => fail(`A bare reading failed: ${String(error)}`),
    );
  });
  await openMore(chipids.length);
  return { isBack: () => roll.all(), close: () => reader.close() };
}

/** The client: a listener with recovery for each device, which has to be called with each missed upload once. */
export function ourOutage(
  baseUrl: string,
  packageFolder: string,
  chipids: readonly string[],
): Outage {
  const load = createRequire(join(packageFolder, 'package.json'));
  const { DeviceCloudClient: Client } = load('./dist/src/index.js') as {
    DeviceCloudClient: typeof DeviceCloudClient;
  };
  const client = new Client({ baseUrl, ...IDENTITY, proxy: false });
  const roll = new Roll(chipids);
  const counts = new Map<string, number>();
  /** That a long history is not read to its end is said once. */
  const onFault = (fault: string, kind?: string): void => {
    if (kind !== 'long history') fail(fault);
  };
  for (const chipid of chipids) {
    let hasPosition = false;
    const onUpload = (): void => {
      const count = (counts.get(chipid) ?? 0) + 1;
      counts.set(chipid, count % MISSED);
      if (count === MISSED) roll.tick(chipid);
    };
    const save = (): void => {
      // The first reading sets the position, and nothing was missed before it.
      if (!hasPosition) roll.tick(chipid);
      hasPosition = true;
    };
    client.listen(chipid, { onUpload, onFault }, { save });
  }
  return { isBack: () => roll.all(), close: () => client.close() };
}
