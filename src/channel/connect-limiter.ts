/** Spreads connection attempts, so that a restart of a service with many channels is no stampede. */
export interface ConnectLimiter {
  /**
   * Queues for a place.
   * @param turn called once, never at once
   * @returns leaves the queue: who no longer needs a place holds up nobody behind
   */
  acquire(turn: () => void): () => void;
}

const SECOND = 1000;

/** @param perSecond attempts at most in any second, spread evenly */
export function createConnectLimiter(
  perSecond: number,
  now: () => number = () => performance.now(),
): ConnectLimiter {
  const step = SECOND / perSecond;
  // A set keeps the order, and is left from its middle at no cost.
  const waiting = new Set<() => void>();
  /** When the latest turns were, as many as a second may have. */
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

/** All channels of this process share one rate. */
export const connectLimiter = createConnectLimiter(50);
