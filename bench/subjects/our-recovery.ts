import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { DeviceCloudClient } from '../../src/client';
import { chipidOf, IDENTITY } from '../identity';
import type { ServiceClient } from '../service/client';
import { HISTORY } from '../service/readings';
import { fail } from './node-red';

/** Reads histories of devices, from one index up to another. */
export interface Histories {
  /** @returns how many records, or uploads, came out */
  read(from: number, to: number): Promise<number>;
  close(): unknown;
}

/** The position of a device of which nothing has been emitted yet: all that its history has was missed. */
const NOTHING = { id: '-1', live: 0 };

/** The client: listeners with recovery join channels that are open already. */
export async function ourRecovery(
  service: ServiceClient,
  packageFolder: string,
  devices: number,
): Promise<Histories> {
  const load = createRequire(join(packageFolder, 'package.json'));
  const { DeviceCloudClient: Client } = load('./dist/src/index.js') as {
    DeviceCloudClient: typeof DeviceCloudClient;
  };
  const client = new Client({ baseUrl: service.addresses.http, ...IDENTITY, proxy: false });
  await service.channelsOpen(0);
  for (let index = 0; index < devices; index++) client.listen(chipidOf(index), {});
  await service.channelsOpen(devices);

  return {
    read: (from, to) =>
      new Promise((resolve) => {
        let count = 0;
        const onUpload = (): void => {
          if (++count === (to - from) * HISTORY) resolve(count);
        };
        // Reading all these histories takes longer than live uploads may be held back; no live uploads arrive here.
        const onFault = (fault: string, kind?: string): void => {
          if (kind !== 'late') fail(fault);
        };
        const listener = { onUpload, onFault };
        for (let index = from; index < to; index++) {
          client.listen(chipidOf(index), listener, { start: NOTHING });
        }
      }),
    close: () => void client.close(),
  };
}
