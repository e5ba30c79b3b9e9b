/**
 * The pause before another attempt, in ms: full jitter, that is, anything between 0 and a limit that
 * doubles from `base` up to `cap`. It spreads out clients that failed together.
 * @param attempt how many attempts have failed before, from 0
 */
export function backoff(attempt: number, base: number, cap: number, random: () => number): number {
  return random() * Math.min(cap, base * 2 ** Math.min(attempt, 30));
}
