import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds after which a wait is given up. It ends a run that hangs; no verdict depends on it. */
export const TIMEOUT = 90_000;

/** Milliseconds between two looks: few at first and where a look costs nothing, more where it is a request. */
const PAUSE = { shortest: 5, longest: 100 };

/** How much longer a wait may take because looks are rare, as a part of it. */
const LATE = 1 / 10;

/** A wait that took too long. */
export class TimeoutError extends Error {
  constructor(ms: number, what: string) {
    super(`Timed out after ${ms / 1000} s, waiting until ${what}.`);
  }
}

/**
 * Waits until something holds that has no event of its own. A state that ends by itself within
 * {@link PAUSE.longest} may be over before it is seen: wait for what it leaves behind.
 *
 * @param look returns what is waited for, or something falsy as long as it is not there
 * @param what completes the sentence "waiting until …" of the error
 * @param timeout in milliseconds
 * @returns what `look` returned at last
 * @throws {TimeoutError} after the timeout
 */
export async function until(
  look: () => boolean | Promise<boolean>,
  what?: string,
  timeout?: number,
): Promise<void>;
export async function until<T>(
  look: () => T | Promise<T>,
  what?: string,
  timeout?: number,
): Promise<Exclude<T, undefined | null | false>>;
export async function until(
  look: () => unknown,
  what = 'it holds',
  timeout = TIMEOUT,
): Promise<unknown> {
  const start = performance.now();
  for (;;) {
    const before = performance.now();
    const found = await look();
    if (found) return found;
    const after = performance.now();
    if (after - start > timeout) throw new TimeoutError(timeout, what);
    const pause = Math.max(PAUSE.shortest, 2 * (after - before), LATE * (after - start));
    await sleep(Math.min(pause, PAUSE.longest));
  }
}

/**
 * Waits as {@link until} does, for something whose absence the caller explains itself.
 *
 * @returns whether it came to hold within the timeout
 */
export async function comesToHold(
  look: () => boolean | Promise<boolean>,
  timeout = TIMEOUT,
): Promise<boolean> {
  try {
    await until(look, 'it holds', timeout);
    return true;
  } catch (error) {
    if (error instanceof TimeoutError) return false;
    throw error;
  }
}

/**
 * Limits how long a promise is awaited.
 *
 * @param timeout in milliseconds
 * @param what completes the sentence "waiting until …" of the error
 * @throws {TimeoutError} after the timeout
 */
export function within<T>(promise: Promise<T>, what: string, timeout = TIMEOUT): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(timeout, what)), timeout);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Lets everything that is ready happen, a few rounds of the event loop. */
export async function settled(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
