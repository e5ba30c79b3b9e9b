import { mock } from 'node:test';
import { atEnd } from '../tooling/servers/at-end';

/** In milliseconds: a time-out that no test waits for, and that no other timer has. */
export const HOUR = 3_600_000;

/**
 * Holds every timer of a length until the test has it expire, so that how fast the machine is decides nothing.
 *
 * @param ms their length in milliseconds, an hour by default
 * @returns expires those that have been set and not been cleared
 */
export function heldTimers(ms = HOUR): () => void {
  const set = globalThis.setTimeout;
  const clear = globalThis.clearTimeout;
  const held = new Map<NodeJS.Timeout, () => void>();
  const hold = (callback: (...args: unknown[]) => void, after?: number, ...args: unknown[]) => {
    if (after !== ms) return set(callback, after, ...args);
    const timer = set(() => undefined, HOUR);
    held.set(timer, () => callback(...args));
    return timer;
  };
  const forget = (timer: NodeJS.Timeout | undefined): void => {
    if (timer) held.delete(timer);
    clear(timer);
  };
  const mocks = [
    mock.method(globalThis, 'setTimeout', hold),
    mock.method(globalThis, 'clearTimeout', forget),
  ];
  atEnd(() => {
    for (const { mock: each } of mocks) each.restore();
  });
  return () => {
    for (const [timer, expire] of [...held]) {
      forget(timer);
      expire();
    }
  };
}
