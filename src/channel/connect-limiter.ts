/** Spreads connection attempts, so that a restarted service is not overrun by all its channels at once. */
export interface ConnectLimiter {
  /**
   * Queues for a place.
   * @param turn is called once, never synchronously
   * @returns leaves the queue; those behind move up
   */
  acquire(turn: () => void): () => void;
}

const SECOND = 1000;

/** Attempts at most in any second, over all channels of a process. */
const PER_SECOND = 50;

/** @param perSecond attempts at most in any second, spread evenly */
export function createConnectLimiter(
  perSecond: number = PER_SECOND,
  now: () => number = () => performance.now(),
): ConnectLimiter {
  const step = SECOND / perSecond;
  // A set keeps the order, and deletes from its middle in constant time.
  const waiting = new Set<() => void>();
  /** When the latest turns were, at most `perSecond` of them. */
  const latest: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  /** When the next turn is due. */
  let due = -Infinity;

  const watch = (): void => {
    if (waiting.size > 0) timer ??= setTimeout(next, Math.ceil(Math.max(0, due - now())));
  };
  function next(): void {
    timer = undefined;
    const [turn] = waiting;
    if (!turn) return;
    const at = now();
    // A timer may be early: it counts from when the event loop has last looked at the clock.
    if (at < due) {
      watch();
      return;
    }
    waiting.delete(turn);
    latest.push(at);
    // Timers are late, each a little: what is less than a step is made up for.
    const even = (at - due < step ? due : at) + step;
    const first = latest.length < perSecond ? -Infinity : (latest.shift() ?? -Infinity);
    due = Math.max(even, first + SECOND);
    watch();
    turn();
  }

  return {
    acquire(turn) {
      waiting.add(turn);
      watch();
      return () => {
        waiting.delete(turn);
        if (waiting.size > 0) return;
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}
