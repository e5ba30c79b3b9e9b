/**
 * The pause before another attempt, in ms: full jitter, that is, anything between 0 and a limit that
 * doubles from `base` up to `cap`. Many clients that failed together so come back spread out.
 * @param attempt how many attempts have failed before, from 0
 */
export function backoff(attempt: number, base: number, cap: number, random: () => number): number {
  return random() * Math.min(cap, base * 2 ** Math.min(attempt, 30));
}
