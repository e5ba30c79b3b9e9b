/**
 * What a failed attempt says about the service:
 * - `refusal`: it asks for less.
 * - `timeout`: it has not answered in time.
 * - `failure`: it, or a gateway before it, broke. Perhaps from load, perhaps for this device alone.
 * - `absence`: nothing is there to be overloaded.
 * - `unrelated`: it has answered, or the fault is on this side: keys, certificate, address, files.
 */
type AttemptFailure = 'refusal' | 'timeout' | 'failure' | 'absence' | 'unrelated';

const CODES: ReadonlyMap<string, AttemptFailure> = new Map([
  ['ETIMEDOUT', 'timeout'],
  ['ECONNRESET', 'failure'],
  ['ECONNABORTED', 'failure'],
  ['EPIPE', 'failure'],
  ['1006', 'failure'],
  ['ECONNREFUSED', 'absence'],
  ['EHOSTUNREACH', 'absence'],
  ['EHOSTDOWN', 'absence'],
  ['ENETUNREACH', 'absence'],
  ['ENETDOWN', 'absence'],
  ['ENOTFOUND', 'absence'],
  ['EAI_AGAIN', 'absence'],
]);

/** A status of the service, or of the proxy before it. */
const STATUS = /^(?:PROXY_)?(\d{3})$/;

/** @param reason HTTP status, error code or close code of an attempt that failed */
export function attemptFailure(reason: string): AttemptFailure {
  const status = Number(STATUS.exec(reason)?.[1] ?? 0);
  if (status === 429 || status === 503) return 'refusal';
  if (status >= 500) return 'failure';
  return CODES.get(reason) ?? 'unrelated';
}

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

/** An answer is slow if it waits for the service more than twice as long as the quickest recent one … */
const TIMES = 2;
/** … and longer than this, in ms. */
const NEVER_SLOW = 100;
/** The highest limit, in ms: however slow all answers are, an answer that takes longer is slow. */
const ALWAYS_SLOW = 5000;
/** The limit in ms before any has succeeded. */
const SLOW_AT_FIRST = 1000;
/** Milliseconds in which the remembered quickest answer doubles: a service may become permanently slower. */
const DOUBLES_IN = 10_000;

/**
 * The number of attempts a second that a service seems to accept. A refusal halves the rate at once. Slow answers and other
 * failures, which may have other causes, do so when they make up about half of the attempts: eleven in a row. Attempts
 * within the following second are ignored, since they still show the effect of the old rate. All times are in ms.
 */
export class AdaptiveRate {
  perSecond = START;
  /** Whether it starts over at half of the last rate that the service took. */
  remembers = false;
  readonly #most: number;
  /** The last rate at which the service answered quickly while attempts waited for it. */
  #taken = 0;
  /** Whether the rate was ever too high. */
  #wasHalved = false;
  /** Attempts that began earlier are not judged, or do not raise the rate. */
  #judgedFrom = -Infinity;
  #raisedFrom = -Infinity;
  #badShare = 0;
  #isCareful = false;
  /** Whether an attempt has succeeded since the rate was last halved. */
  #hasSucceeded = false;
  #quickest = Infinity;
  #quickestAt = 0;

  /** @param most attempts a second at most */
  constructor(most: number) {
    this.#most = most;
  }

  /** Starts over. @param at when the first of the next attempts is made */
  restart(at: number): void {
    const known = this.remembers ? this.#taken / 2 : 0;
    // Of a service that has never refused any, the rate shows only how few there were.
    const least = known > 0 && this.#wasHalved ? LEAST_CHEAP : START;
    this.perSecond = Math.max(least, known);
    this.#judgedFrom = at;
    // A rate that was tried before may grow at once.
    this.#raisedFrom = known > START ? at : at + SECOND;
    this.#badShare = 0;
    this.#isCareful = this.#hasSucceeded = false;
    this.#quickest = Infinity;
  }

  /** The wait for the service above which an answer is slow. */
  slowAfter(at: number): number {
    const quickest = this.#quickestNow(at);
    if (quickest === Infinity) return SLOW_AT_FIRST;
    return Math.min(ALWAYS_SLOW, Math.max(NEVER_SLOW, TIMES * quickest));
  }

  /** An attempt, quick or slow, has succeeded. */
  succeeded(duration: number, at: number): void {
    this.#hasSucceeded = true;
    this.#quickest = Math.min(duration, this.#quickestNow(at));
    this.#quickestAt = at;
  }

  /**
   * An answer was quick.
   * @param began when the attempt was made
   * @param isLimit whether others wait, so that the rate is what limits them
   */
  quick(began: number, isLimit: boolean): void {
    if (began < this.#judgedFrom) return;
    this.#badShare -= this.#badShare * WEIGHT;
    if (!isLimit) return;
    this.#taken = this.perSecond;
    if (began < this.#raisedFrom) return;
    const growth = this.#isCareful ? CAREFUL_GROWTH : GROWTH;
    this.perSecond = Math.min(this.#most, this.perSecond + growth);
  }

  /** An attempt was slow or failed, perhaps from load. @param isCheap whether nothing was there */
  bad(began: number, at: number, isCheap = false): void {
    if (began < this.#judgedFrom) return;
    this.#badShare += (1 - this.#badShare) * WEIGHT;
    if (this.#badShare > TOO_MANY) this.#halve(at, isCheap ? LEAST_CHEAP : LEAST);
  }

  /** The service asked for less, or did not answer in time. */
  refused(began: number, at: number, how: 'refusal' | 'timeout'): void {
    if (began < this.#judgedFrom) return;
    if (how === 'refusal') this.#isCareful = this.#hasSucceeded;
    this.#halve(at, how === 'refusal' && this.#hasSucceeded ? LEAST_CHEAP : LEAST);
  }

  #halve(at: number, least: number): void {
    this.perSecond = Math.min(this.perSecond, Math.max(this.perSecond / 2, least));
    this.#judgedFrom = this.#raisedFrom = at + SECOND;
    this.#badShare = 0;
    this.#hasSucceeded = false;
    this.#wasHalved = true;
  }

  #quickestNow(at: number): number {
    return this.#quickest * 2 ** ((at - this.#quickestAt) / DOUBLES_IN);
  }
}
