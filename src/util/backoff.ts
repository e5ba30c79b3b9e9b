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

const BASE = 1000;
const CAP = 60_000;
/** The number of doublings after which the limit is the cap. */
const MOST = Math.log2(CAP / BASE);
/** Each time a connection was open for this long, in ms, the limit after it has one doubling less. */
const PER_DOUBLING = 4000;

/**
 * How long a channel waits before it reconnects: full jitter, that is, anything between 0 and a limit.
 * The limit doubles with each attempt from 1 s up to 60 s, and falls with the time that the last
 * connection was open: it is at most 60 s after a connection that ended at once, and halves for every 4 s
 * that the connection lasted. So a connection that is cut every 20 s costs a second or two each time, while a
 * service that accepts and closes sees an attempt every 30 s on average, as a service that is down does.
 */
export class ReconnectBackoff {
  readonly #random: () => number;
  #doublings = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * The pause before the next attempt, in ms.
   * @param openFor milliseconds the connection was open, 0 if the attempt failed
   */
  pause(openFor: number): number {
    const limit = Math.max(0, MOST - openFor / PER_DOUBLING);
    const doublings = Math.min(this.#doublings, limit);
    this.#doublings = Math.min(doublings + 1, MOST);
    return backoff(doublings, BASE, CAP, this.#random);
  }

  /** The pause after a refusal that only a person can fix, in ms: 30 s to 60 s. */
  slowPause(): number {
    return backoff(0, CAP, CAP, this.#random, 0.5);
  }
}
