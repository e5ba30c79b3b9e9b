import { performance } from 'node:perf_hooks';
import { AdaptiveRate, attemptFailure } from './adaptive-rate';

/** The clocks of a limiter. */
export interface PaceClock {
  /** Milliseconds from any point on. */
  now(): number;
  /** Milliseconds in which this process had nothing to do, from any point on. */
  idle(): number;
  random(): number;
}

export interface Paced {
  /** Attempts a second at most. */
  readonly most: number;
  /** Whether slow answers lower the rate. */
  readonly judgesSpeed: boolean;
}

export const CONNECTS: Paced = { most: 500, judgesSpeed: true };
/**
 * Readings of histories: one may be a thousand times as long as another, and so much slower. Few run at once, which
 * limits them before this rate does unless the service is near and quick.
 */
export const READINGS: Paced = { most: 2000, judgesSpeed: false };

const CLOCK: PaceClock = {
  now: () => performance.now(),
  idle: () => performance.eventLoopUtilization().idle,
  random: Math.random,
};

/** An attempt to connect or to read, from its place in the queue on. One of these calls ends it. */
export interface PacedAttempt {
  /** The service accepted it: a handshake succeeded, or an answer came. */
  succeeded(): void;
  /**
   * It failed.
   * @param reason HTTP status, error code or close code
   * @param retryAfter milliseconds for which the service asks to wait
   */
  failed(reason: string, retryAfter?: number): void;
  /** Leaves the queue; those behind move up. Or gives the attempt up. */
  cancel(): void;
}

const SECOND = 1000;
/** A connection that was open for less than this many milliseconds counts as a failure. */
const AT_ONCE = 1000;
/** Timers fire late: up to this many milliseconds are made up for, without exceeding the rate in any second. */
const MADE_UP = 20;
/** After this many milliseconds in which no attempt had to wait, the measured rate is out of date. */
const FORGET = 10_000;
/** More attempts than this that wait for their turn are a rush. */
const RUSH = 100;
/** Milliseconds for which they count as one. */
const LONGEST_RUSH = 10_000;
/** The most by which a wait is longer than the service asks for, so that clients come back spread out. */
const JITTER = 0.5;

/** A class, since there are thousands after a restart. */
class Attempt implements PacedAttempt {
  /** When its turn came, and how long the process had been idle by then, in ms. */
  began = NaN;
  idleBefore = NaN;
  readonly turn: () => void;
  readonly #limiter: AdaptiveLimiter;

  constructor(limiter: AdaptiveLimiter, turn: () => void) {
    this.#limiter = limiter;
    this.turn = turn;
  }

  succeeded(): void {
    this.#limiter.succeeded(this);
  }

  failed(reason: string, retryAfter?: number): void {
    this.#limiter.failed(this, reason, retryAfter);
  }

  cancel(): void {
    this.#limiter.cancel(this);
  }
}

/**
 * Spreads the attempts to connect to one service, or to read from it, so that all channels together do not overload
 * it after a restart. The rate adapts to what the service can take: see {@link AdaptiveRate}.
 */
export class AdaptiveLimiter {
  readonly #rate: AdaptiveRate;
  readonly #clock: PaceClock;
  readonly #paced: Paced;
  /** Sets keep the order, and delete from their middle in constant time. */
  readonly #waiting = new Set<Attempt>();
  /** Attempts under way that are not known to be slow, the oldest first. */
  readonly #underWay = new Set<Attempt>();
  #timer: NodeJS.Timeout | undefined;
  /** When the rate allows the next turn, and when the service does. */
  #due = -Infinity;
  #resumesAt = -Infinity;
  /** When the rate last made attempts wait. */
  #limitedAt = -Infinity;
  #rushSince: number | undefined;

  constructor(clock: PaceClock, paced = CONNECTS) {
    this.#clock = clock;
    this.#paced = paced;
    this.#rate = new AdaptiveRate(paced.most);
  }

  /**
   * Starts over at half of the last rate that the service took from now on, and not at 50 a second: a process that takes
   * over the devices of another one has not lost the service.
   */
  remember(): this {
    this.#rate.remembers = true;
    return this;
  }

  /**
   * Queues for a turn.
   * @param turn makes the attempt; is called at most once, never synchronously, and does not throw
   */
  acquire(turn: () => void): PacedAttempt {
    // No turns are saved up while nothing waits.
    if (this.#waiting.size === 0) this.#due = Math.max(this.#due, this.#clock.now());
    const attempt = new Attempt(this, turn);
    this.#waiting.add(attempt);
    if (this.#waiting.size > RUSH) this.#rushSince ??= this.#clock.now();
    this.#setTimer();
    return attempt;
  }

  /** Whether many attempts wait, and have not waited for long: otherwise the service is away or slow. */
  get isRush(): boolean {
    return this.#rushSince !== undefined && this.#clock.now() - this.#rushSince < LONGEST_RUSH;
  }

  succeeded(attempt: Attempt): void {
    const at = this.#clock.now();
    const isFirstSign = this.#underWay.delete(attempt);
    this.#rate.succeeded(at - attempt.began, at);
    if (!isFirstSign) return;
    if (this.#isSlow(attempt, at)) this.#rate.bad(attempt.began, at);
    else this.#rate.quick(attempt.began, this.#waiting.size > 0);
  }

  failed(attempt: Attempt, reason: string, retryAfter = 0): void {
    const at = this.#clock.now();
    const isFirstSign = this.#underWay.delete(attempt);
    const failure = attemptFailure(reason);
    if (failure === 'unrelated') return;
    if (retryAfter > 0) {
      const wait = retryAfter * (1 + JITTER * this.#clock.random());
      this.#resumesAt = Math.max(this.#resumesAt, at + wait);
    }
    if (failure === 'refusal' || failure === 'timeout')
      this.#rate.refused(attempt.began, at, failure);
    else if (isFirstSign) this.#rate.bad(attempt.began, at, failure === 'absence');
  }

  /** A connection has ended. @param openFor milliseconds it was open: at once is a failure, too */
  ended(openFor: number): void {
    if (openFor >= AT_ONCE) return;
    const at = this.#clock.now();
    // Twice, to outweigh its handshake, which counted as a quick one.
    this.#rate.bad(at - openFor, at);
    this.#rate.bad(at - openFor, at);
  }

  cancel(attempt: Attempt): void {
    this.#underWay.delete(attempt);
    this.#leave(attempt);
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #leave(attempt: Attempt): void {
    this.#waiting.delete(attempt);
    if (this.#waiting.size <= RUSH) this.#rushSince = undefined;
  }

  #setTimer(): void {
    if (this.#waiting.size === 0) return;
    const due = Math.max(this.#due, this.#resumesAt);
    this.#timer ??= setTimeout(
      () => this.#begin(),
      Math.ceil(Math.max(0, due - this.#clock.now())),
    );
  }

  /** Starts all attempts whose time has come. */
  #begin(): void {
    this.#timer = undefined;
    const at = this.#clock.now();
    this.#findSlow(at);
    // A timer may be early: it counts from when the event loop has last looked at the clock.
    while (Math.max(this.#due, this.#resumesAt) <= at) {
      const [attempt] = this.#waiting;
      if (!attempt) return;
      this.#leave(attempt);
      if (this.#waiting.size > 0) {
        // If the rate last made attempts wait long ago, it starts over.
        if (at - Math.max(this.#limitedAt, this.#resumesAt) >= FORGET) this.#rate.restart(at);
        this.#limitedAt = at;
      }
      this.#due = Math.max(this.#due, at - MADE_UP) + (SECOND + MADE_UP) / this.#rate.perSecond;
      attempt.began = at;
      attempt.idleBefore = this.#clock.idle();
      this.#underWay.add(attempt);
      attempt.turn();
    }
    this.#setTimer();
  }

  /** Counts attempts as slow before they end, so that a service that hangs does not receive more and more. */
  #findSlow(at: number): void {
    for (const attempt of this.#underWay) {
      if (!this.#isSlow(attempt, at)) return;
      this.#underWay.delete(attempt);
      this.#rate.bad(attempt.began, at);
    }
  }

  /**
   * Whether it has waited long for the service. The time in which this process was busy does not count:
   * over TLS, handshakes wait for one another here.
   */
  #isSlow({ idleBefore }: Attempt, at: number): boolean {
    return this.#paced.judgesSpeed && this.#clock.idle() - idleBefore > this.#rate.slowAfter(at);
  }
}

/** How many limiters are kept. With more services at a time, their clients would not share them. */
const MOST = 100;

/** One limiter for each service, shared by its clients: a slow service delays no other. */
export class AdaptiveLimiters {
  readonly #limiters = new Map<string, AdaptiveLimiter>();
  readonly #clock: PaceClock;

  constructor(clock: PaceClock = CLOCK) {
    this.#clock = clock;
  }

  /**
   * @param origin the address of the service; a limiter of it outlives its clients, and so a deploy
   * @param paced the limits; the same with each call for an address
   */
  of(origin: string, paced = CONNECTS): AdaptiveLimiter {
    const limiter = this.#limiters.get(origin) ?? new AdaptiveLimiter(this.#clock, paced);
    // The least recently used one is the first, and is dropped first.
    this.#limiters.delete(origin);
    this.#limiters.set(origin, limiter);
    const [oldest = origin] = this.#limiters.keys();
    if (this.#limiters.size > MOST) this.#limiters.delete(oldest);
    return limiter;
  }
}
