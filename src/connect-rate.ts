/** Spreads connection attempts, so that a restart of a service with many channels is no stampede. */
export interface ConnectRate {
  /**
   * Queues for a place.
   * @param turn called once, never at once
   * @returns leaves the queue: who no longer needs a place holds up nobody behind
   */
  queue(turn: () => void): () => void;
}

/** @param perSecond attempts a second at most */
export function createConnectRate(
  perSecond: number,
  now: () => number = () => performance.now(),
): ConnectRate {
  const step = 1000 / perSecond;
  // A set keeps the order, and is left from its middle at no cost.
  const waiting = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let free = -Infinity;

  const watch = (): void => {
    if (waiting.size > 0) timer ??= setTimeout(next, Math.ceil(Math.max(0, free - now())));
  };
  function next(): void {
    timer = undefined;
    const [turn] = waiting;
    if (!turn) return;
    waiting.delete(turn);
    free = now() + step;
    watch();
    turn();
  }

  return {
    queue(turn) {
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
export const connectRate = createConnectRate(50);
