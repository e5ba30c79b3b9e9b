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

/** A call that waits, in a list that goes both ways: it is left from anywhere without a trace. */
interface Waiter {
  grant: () => void;
  before: Waiter | undefined;
  after: Waiter | undefined;
}

export function createPermits(size: number): Permits {
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
    take(deadline) {
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
    give() {
      const waiter = first;
      if (waiter) {
        leave(waiter);
        waiter.grant();
      } else free++;
    },
  };
}
