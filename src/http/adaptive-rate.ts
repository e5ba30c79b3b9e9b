const SECOND = 1000;

/** Attempts a second, initially. */
const START = 50;
/** The lower limit while the service is slow or accepts no attempts. */
const LEAST = 1;
/** The lower limit if an attempt costs little: the service accepts some attempts, or nothing is there. */
const LEAST_CHEAP = 10;

/** Attempts a second that each quick answer adds. Each second the rate grows by a factor of 2.7 … */
const GROWTH = 1;
/** … or by a tenth, once the service has refused attempts while it accepted others: its limit is near. */
const CAREFUL_GROWTH = 0.1;

/** The weight of the latest attempt in the share of bad ones. */
const WEIGHT = 1 / 16;
/** The share of bad attempts above which the rate is halved. */
const TOO_MANY = 0.5;

/**
 * The number of attempts a second that a service seems to accept. A refusal halves the rate at once. Slow answers and other
 * failures, which may have other causes, do so when they make up about half of the attempts: eleven in a row. Attempts
 * within the following second are ignored, since they still show the effect of the old rate.
 */
export class AdaptiveRate {
  perSecond = START;
  /** The last rate at which the service answered quickly while attempts waited for it. */
  private taken = 0;
  /** Whether the rate was ever too high. */
  private wasHalved = false;
  /** Attempts that began earlier are not judged, or do not raise the rate. */
  private judgedFrom = -Infinity;
  private raisedFrom = -Infinity;
  private badShare = 0;
  private careful = false;
  /** Whether an attempt has succeeded since the rate was last halved. */
  private hasSucceeded = false;

  /** Whether it starts over at half of the last rate that the service took. */
  remembers = false;

  /** @param most attempts a second at most */
  constructor(private readonly most: number) {}

  /** Starts over. @param at when the first of the next attempts is made, in ms */
  restart(at: number): void {
    const known = this.remembers ? this.taken / 2 : 0;
    // Of a service that has never refused any, the rate shows only how few there were.
    const least = known > 0 && this.wasHalved ? LEAST_CHEAP : START;
    this.perSecond = Math.max(least, known);
    this.judgedFrom = at;
    // A rate that was tried before may grow at once.
    this.raisedFrom = known > START ? at : at + SECOND;
    this.badShare = 0;
    this.careful = false;
    this.hasSucceeded = false;
  }

  /** An attempt, quick or slow, has succeeded. */
  succeeded(): void {
    this.hasSucceeded = true;
  }

  /**
   * An answer was quick.
   * @param began when the attempt was made
   * @param isLimit whether others wait, so that the rate is what limits them
   */
  quick(began: number, isLimit: boolean): void {
    if (began < this.judgedFrom) return;
    this.badShare -= this.badShare * WEIGHT;
    if (!isLimit) return;
    this.taken = this.perSecond;
    if (began < this.raisedFrom) return;
    const growth = this.careful ? CAREFUL_GROWTH : GROWTH;
    this.perSecond = Math.min(this.most, this.perSecond + growth);
  }

  /** An answer is slow. */
  slow(began: number, at: number): void {
    this.bad(began, at, LEAST);
  }

  /** An attempt failed, perhaps from load. @param absent whether nothing was there */
  failed(began: number, at: number, absent: boolean): void {
    this.bad(began, at, absent ? LEAST_CHEAP : LEAST);
  }

  /** A connection ended as soon as it was open. This outweighs its handshake, which counted as a quick one. */
  useless(opened: number, at: number): void {
    this.bad(opened, at, LEAST);
    this.bad(opened, at, LEAST);
  }

  /** The service asked for less. */
  refused(began: number, at: number): void {
    if (began < this.judgedFrom) return;
    this.careful = this.hasSucceeded;
    this.halve(at, this.hasSucceeded ? LEAST_CHEAP : LEAST);
  }

  /** The service did not answer in time. */
  timedOut(began: number, at: number): void {
    if (began >= this.judgedFrom) this.halve(at, LEAST);
  }

  private bad(began: number, at: number, least: number): void {
    if (began < this.judgedFrom) return;
    this.badShare += (1 - this.badShare) * WEIGHT;
    if (this.badShare > TOO_MANY) this.halve(at, least);
  }

  private halve(at: number, least: number): void {
    this.perSecond = Math.min(this.perSecond, Math.max(this.perSecond / 2, least));
    this.judgedFrom = this.raisedFrom = at + SECOND;
    this.badShare = 0;
    this.hasSucceeded = false;
    this.wasHalved = true;
  }
}
