import assert from 'node:assert/strict';
import type { Simulator } from '../../../src/simulator';
import { cloudApp, load, node } from '../support/flow';
import { arrivedAt, shows } from '../support/messages';
import { startCloud } from '../support/node-red';
import { until } from '../support/until';
import { CHIPID, emitted, payloads } from './row';

const WORDS = ['one', 'two'] as const;

/** What {@link owed} has a device upload. */
export const known = (chipid: string): string[] => WORDS.map((word) => `${word} of ${chipid}`);

/** A listener on the first device, connected; with recovery, what is uploaded from now on is owed. */
export async function listening({
  recover = 'reconnect',
  ...properties
}: { recover?: 'off' | 'reconnect'; ping?: number } = {}): Promise<Simulator> {
  const cloud = await startCloud();
  await load([cloudApp(cloud, properties), node('listen', { chipids: [CHIPID], recover })]);
  await shows('listen', 'status.connected');
  if (recover === 'reconnect') await owed(cloud, [CHIPID]);
  return cloud;
}

/**
 * Waits until the channel of each device is open and its history has been read. The answer is on its way
 * when the service has written it; uploads sent after it, twice, show that it was read and settled.
 */
export async function owed(cloud: Simulator, chipids: readonly string[]): Promise<void> {
  const read = new Set<string>();
  await until('every channel is open and every history read', () => {
    // Looked at all the time: the log of requests keeps the last ones only.
    for (const { path, status } of cloud.requests) {
      if (path.includes('up_messages') && status === 200) read.add(path);
    }
    return read.size === chipids.length && cloud.channels() === chipids.length;
  });
  for (const word of WORDS) {
    const before = arrivedAt('out').length;
    for (const chipid of chipids) cloud.upload(chipid, `${word} of ${chipid}`);
    await until('all are emitted', () => arrivedAt('out').length === before + chipids.length);
  }
}

/** Gives a service the history that {@link owed} has made, in the same order and so with the same ids. */
export function uploadKnown(cloud: Simulator, chipids: readonly string[]): void {
  for (const word of WORDS)
    for (const chipid of chipids) cloud.upload(chipid, `${word} of ${chipid}`);
}

/** Waits for the channel after one that ended: what it missed comes, once, in order, and marked. */
export async function recovered(cloud: Simulator, missed: readonly string[]): Promise<void> {
  await emitted(missed.at(-1));
  await until('the channel is open', () => cloud.channels(CHIPID) === 1);
  await shows('listen', 'status.connected');
  cloud.upload(CHIPID, 'good');
  await emitted('good');
  assert.deepEqual(payloads(), [...known(CHIPID), ...missed, 'good']);
  const marked = arrivedAt('out').filter((msg) => msg['replayed'] === true);
  assert.deepEqual(
    marked.map(({ payload }) => payload),
    missed,
  );
}
