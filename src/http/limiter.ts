import type { Deadline } from './deadline';

/**
 * At most `size` calls at once. Further ones wait here, in order, and not in undici's queue, whose
 * time no time-out of undici counts.
 */
export class Limiter {
  #free: number;
  /** A set keeps the order, and any of them can leave it in constant time. */
  readonly #waiting = new Set<() => void>();

  constructor(size: number) {
    this.#free = size;
  }

  /**
   * Waits for a place unless one is free.
   * @returns undefined if one was free, else a promise
   * @throws the deadline's error if it ends first
   */
  acquire(deadline: Deadline): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const granted = (): void => {
        deadline.listen(undefined);
        resolve();
      };
      this.#waiting.add(granted);
      // It may have ended, and then is called at once.
      deadline.listen((end) => {
        this.#waiting.delete(granted);
        reject(end);
      });
    });
  }

  /** Frees a place: the call that has waited longest gets it. */
  release(): void {
    const [next] = this.#waiting;
    if (next) {
      this.#waiting.delete(next);
      next();
    } else this.#free++;
  }
}
