import { CALLING, type Progress } from './outcome';
import type { CallProgress } from '../types';

/** Lets some commands run side by side, and the others begin in the order in which they come. */
export class Semaphore {
  #running = 0;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#most) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/** The option with the semaphore that the calls of `callEach` share. It is copied along with the others. */
const SEMAPHORE = Symbol('semaphore');

/** The semaphore that a call has to pass in its turn, if it is one of several. */
export function semaphoreOf(options: object | undefined): Semaphore | undefined {
  const given = (options as Record<symbol, unknown> | undefined)?.[SEMAPHORE];
  return given instanceof Semaphore ? given : undefined;
}

/** The options that `callEach` adds to the options of each call. */
export interface SharedOptions {
  onProgress?: (progress: CallProgress) => void;
}

/**
 * Calls several devices. All calls are made at once, so that each has its place in the queue of its device, and send
 * their commands a few side by side, in the order in which their turns come.
 * @param progress shows what a call waits for; while one of them runs, only that
 * @returns the result of each, in the order of the devices
 */
export function callEach<T>(
  chipids: readonly string[],
  atOnce: number,
  progress: Progress | undefined,
  call: (chipid: string, shared: SharedOptions) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const semaphore = new Semaphore(atOnce);
  const onProgress: Progress | undefined =
    progress && ((now) => progress(now.state === 'waiting' && semaphore.isBusy ? CALLING : now));
  const shared = { [SEMAPHORE]: semaphore, ...(onProgress && { onProgress }) };
  return Promise.allSettled(chipids.map(async (chipid) => call(chipid, shared)));
}
