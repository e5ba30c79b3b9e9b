/** The clocks and timers of this process. Tests and models have their own. */
export interface Clock {
  /** Milliseconds since 1970; may be set back or forward at any time. */
  now(): number;
  /** Milliseconds since an arbitrary moment; never set, but may stop while the machine sleeps. */
  monotonic(): number;
  /** Calls `callback` once after some milliseconds. @returns a function that cancels it */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** A moment by both clocks. */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export const momentOf = (clock: Clock): Moment => ({
  wall: clock.now(),
  monotonic: clock.monotonic(),
});

/**
 * Whether less than `ms` milliseconds have passed since a moment, by both clocks: the monotonic one may stop while a
 * virtual machine sleeps, and the other one may be set back.
 */
export function isWithin(ms: number, since: Moment, clock: Clock): boolean {
  return clock.monotonic() - since.monotonic < ms && clock.now() - since.wall < ms;
}
