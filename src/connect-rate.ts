/** Spreads connection attempts, so that a restart of a service with many channels is no stampede. */
export interface ConnectRate {
  /** Takes the next free place. @returns milliseconds to wait for it */
  take(): number;
}

/** @param perSecond attempts a second at most */
export function createConnectRate(
  perSecond: number,
  now: () => number = () => performance.now(),
): ConnectRate {
  const step = 1000 / perSecond;
  let next = -Infinity;
  return {
    take() {
      const at = now();
      next = Math.max(next, at);
      const wait = next - at;
      next += step;
      return wait;
    },
  };
}

/** All channels of this process share one rate. */
export const connectRate = createConnectRate(50);
