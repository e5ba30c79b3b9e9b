import { mock } from 'node:test';
import { settled } from '../tooling/until';

/** In each test of a suite, time passes only as {@link tick} and {@link pass} let it: timers and the time of day. */
export function useClock(now = 1_000_000): void {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now }));
  afterEach(() => mock.timers.reset());
}

/** @param step milliseconds at a time, so that a timer that another one starts begins at its own time */
export function tick(ms: number, step = ms): void {
  let left = ms;
  do {
    mock.timers.tick(Math.min(left, step));
    left -= step;
  } while (left > 0);
}

/** Lets milliseconds pass, and what follows from them by promises. */
export async function pass(ms: number, rounds?: number): Promise<void> {
  tick(ms);
  await settled(rounds);
}
