/**
 * The pause before another attempt, in ms: anything between a part of a limit and the limit, which doubles from `base`
 * up to `cap`. The randomness spreads out clients that failed together.
 * @param attempt how many attempts have failed before, from 0
 * @param fixed the part of the limit that is not random: 0 (default) is full jitter, 0.5 half
 */
export function backoff(
  attempt: number,
  base: number,
  cap: number,
  random: () => number,
  fixed = 0,
): number {
  const limit = Math.min(cap, base * 2 ** Math.min(attempt, 30));
  return limit * (fixed + (1 - fixed) * random());
}
