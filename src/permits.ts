import type { Deadline } from './deadline';

/**
 * At most `size` calls at once. Further ones wait here, in order, and not in undici's queue, whose
 * time no time-out of undici counts.
 */
export interface Permits {
  /**
   * Takes a permit, at once or when one is given back.
   * @returns undefined with a free permit, else a promise
   * @throws the deadline's error if it ends first
   */
  take(deadline: Deadline): Promise<void> | undefined;
  /** Gives a permit back. */
  give(): void;
}

interface Waiter {
  grant: () => void;
  gone: boolean;
}

export function createPermits(size: number): Permits {
  let free = size;
  let waiting: Waiter[] = [];
  let head = 0;

  const next = (): Waiter | undefined => {
    while (head < waiting.length) {
      const waiter = waiting[head++];
      if (waiter && !waiter.gone) return waiter;
    }
    waiting = [];
    head = 0;
    return undefined;
  };

  return {
    take(deadline) {
      if (free > 0) {
        free--;
        return undefined;
      }
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          gone: false,
          grant: () => {
            deadline.listen(undefined);
            resolve();
          },
        };
        deadline.listen((end) => {
          waiter.gone = true;
          reject(end);
        });
        if (!waiter.gone) waiting.push(waiter);
      });
    },
    give() {
      const waiter = next();
      if (waiter) waiter.grant();
      else free++;
    },
  };
}
