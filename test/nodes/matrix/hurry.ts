import { mock } from 'node:test';

/** A wait of this many milliseconds or more is long. */
const LONG = 15_000;
const TIMES = 100;

/**
 * Time that runs: a wait of 15 s or more is over in a hundredth of it. Sockets are real all the same.
 */
export interface Hurry {
  /** The long waits that have begun, in the milliseconds that were asked for. */
  waits: readonly number[];
  stop(): void;
}

/** @param long in ms: a wait of as much or more is long */
export function hurry(long = LONG): Hurry {
  const waits: number[] = [];
  const real = globalThis.setTimeout;
  const quick = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    if (ms >= long) waits.push(ms);
    return real(callback, ms >= long ? ms / TIMES : ms, ...args);
  };
  const { mock: timers } = mock.method(globalThis, 'setTimeout', quick);
  return { waits, stop: () => timers.restore() };
}
