import type { CallProgress } from '../types';
import { Semaphore } from '../util/semaphore';
import { Slices } from '../util/slices';
import { AWAITING_DEVICE, CALLING, type Progress } from './queue';
import { SEMAPHORE } from './waiting-list';

/** The options that `callEach` adds to the options of each call. */
export interface SharedOptions {
  onProgress?: (progress: CallProgress) => void;
}

/**
 * Calls several devices. The calls are made within a few turns, each at the latest when another command to its device
 * arrives, so that it has its place in the device's queue. They send their commands a few side by side, in the order in
 * which their turns come.
 * @param arrivals to be called with the device of each command that arrives
 * @param progress shows what a call waits for; while one of them runs, only that
 * @returns the result of each, in the order of the devices
 */
export async function callEach<T>(
  chipids: readonly string[],
  arrivals: Set<(chipid: string) => void>,
  atOnce: number,
  progress: Progress | undefined,
  call: (chipid: string, shared: SharedOptions) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  let isAwaited = false;
  // Those that run have ended, and the last one may be about to end the call.
  const semaphore = new Semaphore(atOnce, () => isAwaited && progress?.(AWAITING_DEVICE));
  const show = (now: CallProgress): void => {
    isAwaited ||= now.state === 'awaiting-device';
    progress?.(now.state !== 'calling' && semaphore.isBusy ? CALLING : now);
  };
  const shared = { [SEMAPHORE]: semaphore, ...(progress && { onProgress: show }) };
  const calls: Promise<T>[] = [];
  const uncalled = new Map<string, number[]>();
  for (const [index, chipid] of chipids.entries()) {
    const before = uncalled.get(chipid);
    if (before) before.push(index);
    else uncalled.set(chipid, [index]);
  }
  const make = (chipid: string): void => {
    const indexes = uncalled.get(chipid) ?? [];
    uncalled.delete(chipid);
    for (const index of indexes) {
      const made = (async () => call(chipid, shared))();
      // It is awaited later: until then, a rejection would end the process.
      made.catch(() => undefined);
      calls[index] = made;
    }
  };
  arrivals.add(make);
  const slices = new Slices();
  for (const chipid of uncalled.keys()) {
    if (slices.isOver) await slices.next();
    make(chipid);
  }
  arrivals.delete(make);
  return Promise.allSettled(calls);
}
