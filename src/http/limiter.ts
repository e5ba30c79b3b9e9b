import type { Deadline } from './deadline';

/**
 * At most `size` calls at once. Further ones wait here, in order, and not in undici's queue, whose
 * time no time-out of undici counts.
 */
export interface Limiter {
  /**
   * Waits for a place unless one is free.
   * @returns undefined if one was free, else a promise
   * @throws the deadline's error if it ends first
   */
  acquire(deadline: Deadline): Promise<void> | undefined;
  /** Frees a place: the call that has waited longest gets it. */
  release(): void;
}

/** A waiting call, in a doubly linked list: any of them can leave it in constant time. */
interface Waiter {
  grant: () => void;
  before: Waiter | undefined;
  after: Waiter | undefined;
}

export function createLimiter(size: number): Limiter {
  let free = size;
  let first: Waiter | undefined;
  let last: Waiter | undefined;

  const join = (grant: () => void): Waiter => {
    const waiter: Waiter = { grant, before: last, after: undefined };
    if (last) last.after = waiter;
    else first = waiter;
    last = waiter;
    return waiter;
  };
  const leave = ({ before, after }: Waiter): void => {
    if (before) before.after = after;
    else first = after;
    if (after) after.before = before;
    else last = before;
  };

  return {
    acquire(deadline) {
      if (free > 0) {
        free--;
        return undefined;
      }
      return new Promise((resolve, reject) => {
        if (deadline.ended) {
          reject(deadline.ended);
          return;
        }
        const waiter = join(() => {
          deadline.listen(undefined);
          resolve();
        });
        deadline.listen((end) => {
          leave(waiter);
          reject(end);
        });
      });
    },
    release() {
      const waiter = first;
      if (waiter) {
        leave(waiter);
        waiter.grant();
      } else free++;
    },
  };
}
