import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { atEnd } from './at-end';

/**
 * A service on loopback, in a thread of its own, that answers each channel with a flood.
 * @param frame the bytes of one frame, or of several
 */
export async function floodService(frame: Buffer): Promise<{ baseUrl: string }> {
  const thread = new Worker(join(__dirname, 'flood-thread.js'), { workerData: frame });
  atEnd(() => thread.terminate());
  const [{ port }] = (await once(thread, 'message')) as [AddressInfo];
  return { baseUrl: `http://127.0.0.1:${port}` };
}
