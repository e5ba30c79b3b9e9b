import { setTimeout as sleep } from 'node:timers/promises';

const BOUND = 30_000;

/**
 * Waits until something holds. The bound ends a test that hangs; no verdict depends on it.
 * @param bound in milliseconds, more for what is much work
 */
export async function until(what: string, holds: () => boolean, bound = BOUND): Promise<void> {
  const end = performance.now() + bound;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`Waited in vain: ${what}.`);
    await sleep(5);
  }
}
