const BASE = 1000;
const CAP = 60_000;
/** After so many doublings the limit is the cap. */
const MOST = Math.log2(CAP / BASE);
/** Milliseconds of a connection that take one doubling off what the limit may be after it. */
const PER_DOUBLING = 4000;

/**
 * How long a channel waits before it connects again: full jitter, that is, anything between 0 and a
 * limit. The limit doubles with each attempt from 1 s up to 60 s, and a connection that lasted bounds
 * it: after one that ended at once it may be 60 s, and half as much for every 4 s that it was open.
 * So a connection that is cut every 20 s costs a second or two each time, while a service that
 * accepts and closes sees an attempt every half a minute on average, as one that is down does.
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
    const bound = Math.max(0, MOST - openFor / PER_DOUBLING);
    const doublings = Math.min(this.#doublings, bound);
    this.#doublings = Math.min(doublings + 1, MOST);
    return this.#random() * BASE * 2 ** doublings;
  }

  /** The pause after a refusal that only a person can put right, in ms: 30 s to 60 s. */
  slowPause(): number {
    return CAP * (0.5 + 0.5 * this.#random());
  }
}
