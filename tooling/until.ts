import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds after which a wait is given up. It ends a run that hangs; no verdict depends on it. */
export const BOUND = 45_000;

/** Milliseconds between two looks: few at first and where a look costs nothing, more where it is a request. */
const PAUSE = { shortest: 5, longest: 100 };

/** How much longer a wait may take because looks are rare, as a part of it. */
const LATE = 1 / 10;

/** A wait that took longer than its bound. */
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
 * @param bound in milliseconds
 * @returns what `look` returned at last
 * @throws {TimeoutError} after the bound
 */
export async function until(
  look: () => boolean | Promise<boolean>,
  what?: string,
  bound?: number,
): Promise<void>;
export async function until<T>(
  look: () => T | Promise<T>,
  what?: string,
  bound?: number,
): Promise<Exclude<T, undefined | null | false>>;
export async function until(
  look: () => unknown,
  what = 'it holds',
  bound = BOUND,
): Promise<unknown> {
  const start = performance.now();
  for (;;) {
    const before = performance.now();
    const found = await look();
    if (found) return found;
    const after = performance.now();
    if (after - start > bound) throw new TimeoutError(bound, what);
    const pause = Math.max(PAUSE.shortest, 2 * (after - before), LATE * (after - start));
    await sleep(Math.min(pause, PAUSE.longest));
  }
}

/**
 * Waits as {@link until} does, for something whose absence the caller explains itself.
 *
 * @returns whether it came to hold within the bound
 */
export async function comesToHold(
  look: () => boolean | Promise<boolean>,
  bound = BOUND,
): Promise<boolean> {
  try {
    await until(look, 'it holds', bound);
    return true;
  } catch (error) {
    if (error instanceof TimeoutError) return false;
    throw error;
  }
}

/**
 * Gives a promise a bound.
 *
 * @param bound in milliseconds
 * @param what completes the sentence "waiting until …" of the error
 * @throws {TimeoutError} after the bound
 */
export function within<T>(promise: Promise<T>, what: string, bound = BOUND): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(bound, what)), bound);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Lets everything that is ready happen, a few rounds of the event loop. */
export async function settled(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
