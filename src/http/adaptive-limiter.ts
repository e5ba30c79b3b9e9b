import { attemptFailure } from './attempt-failure';
import { Attempt, type PacedAttempt } from './attempt';
import { AdaptiveRate } from './adaptive-rate';
import { AnswerSpeed } from './answer-speed';

/** The clocks of a limiter. */
export interface PaceClock {
  /** Milliseconds from any point on. */
  now(): number;
  /** Milliseconds in which this process had nothing to do, from any point on. */
  idle(): number;
  random(): number;
}

/** What is limited. */
export interface Paced {
  /** Attempts a second at most. */
  readonly most: number;
  /** Whether slow answers lower the rate. */
  readonly judgesSpeed: boolean;
}

/** Connects of channels. */
export const CONNECTS: Paced = { most: 500, judgesSpeed: true };
/**
 * Readings of histories: one may be a thousand times as long as another, and so much slower. Few run at once, which
 * limits them before this rate does unless the service is near and quick.
 */
export const READINGS: Paced = { most: 2000, judgesSpeed: false };

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

/**
 * Spreads the attempts to connect to one service, or to read from it, so that all channels together do not overload
 * it after a restart. The rate adapts to what the service can take: see {@link AdaptiveRate}.
 */
export class AdaptiveLimiter {
  private readonly rate: AdaptiveRate;
  private readonly speed = new AnswerSpeed();
  /** Sets keep the order, and delete from their middle in constant time. */
  private readonly waiting = new Set<Attempt>();
  /** Attempts under way that are not known to be slow, the oldest first. */
  private readonly underWay = new Set<Attempt>();
  private timer: NodeJS.Timeout | undefined;
  /** When the rate allows the next turn, and when the service does. */
  private due = -Infinity;
  private resumesAt = -Infinity;
  /** When the rate last made attempts wait. */
  private limitedAt = -Infinity;
  private rushSince: number | undefined;

  constructor(
    private readonly clock: PaceClock,
    private readonly paced = CONNECTS,
  ) {
    this.rate = new AdaptiveRate(paced.most);
  }

  /**
   * Starts over at half of the last rate that the service took from now on, and not at 50 a second: a process that takes
   * over the devices of another one has not lost the service.
   */
  remember(): this {
    this.rate.remembers = true;
    return this;
  }

  /**
   * Queues for a turn.
   * @param turn makes the attempt; is called at most once, never synchronously, and does not throw
   */
  acquire(turn: () => void): PacedAttempt {
    // No turns are saved up while nothing waits.
    if (this.waiting.size === 0) this.due = Math.max(this.due, this.clock.now());
    const attempt = new Attempt(this, turn);
    this.waiting.add(attempt);
    if (this.waiting.size > RUSH) this.rushSince ??= this.clock.now();
    this.watch();
    return attempt;
  }

  /** Whether many attempts wait, and have not waited for long: otherwise the service is away or slow. */
  get isRush(): boolean {
    return this.rushSince !== undefined && this.clock.now() - this.rushSince < LONGEST_RUSH;
  }

  succeeded(attempt: Attempt): void {
    const at = this.clock.now();
    const isFirstSign = this.underWay.delete(attempt);
    this.rate.succeeded();
    this.speed.add(at - attempt.began, at);
    if (!isFirstSign) return;
    if (this.isSlow(attempt, at)) this.rate.slow(attempt.began, at);
    else this.rate.quick(attempt.began, this.waiting.size > 0);
  }

  failed(attempt: Attempt, reason: string, retryAfter = 0): void {
    const at = this.clock.now();
    const isFirstSign = this.underWay.delete(attempt);
    const failure = attemptFailure(reason);
    if (failure === 'unrelated') return;
    if (retryAfter > 0) {
      const wait = retryAfter * (1 + JITTER * this.clock.random());
      this.resumesAt = Math.max(this.resumesAt, at + wait);
    }
    if (failure === 'refusal') this.rate.refused(attempt.began, at);
    else if (failure === 'timeout') this.rate.timedOut(attempt.began, at);
    else if (isFirstSign) this.rate.failed(attempt.began, at, failure === 'absence');
  }

  /**
   * A connection has ended.
   * @param openFor milliseconds it was open: at once is a failure, too
   */
  ended(openFor: number): void {
    const at = this.clock.now();
    if (openFor < AT_ONCE) this.rate.useless(at - openFor, at);
  }

  cancel(attempt: Attempt): void {
    this.underWay.delete(attempt);
    this.leave(attempt);
    if (this.waiting.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private leave(attempt: Attempt): void {
    this.waiting.delete(attempt);
    if (this.waiting.size <= RUSH) this.rushSince = undefined;
  }

  private watch(): void {
    if (this.waiting.size === 0) return;
    const due = Math.max(this.due, this.resumesAt);
    this.timer ??= setTimeout(() => this.next(), Math.ceil(Math.max(0, due - this.clock.now())));
  }

  private next(): void {
    this.timer = undefined;
    const at = this.clock.now();
    this.findSlow(at);
    // A timer may be early: it counts from when the event loop has last looked at the clock.
    while (Math.max(this.due, this.resumesAt) <= at) {
      const [attempt] = this.waiting;
      if (!attempt) return;
      this.leave(attempt);
      if (this.waiting.size > 0) this.noteLimit(at);
      this.due = Math.max(this.due, at - MADE_UP) + (SECOND + MADE_UP) / this.rate.perSecond;
      this.begin(attempt, at);
    }
    this.watch();
  }

  /** Notes that the rate makes attempts wait. If it last did so long ago, it starts over. */
  private noteLimit(at: number): void {
    if (at - Math.max(this.limitedAt, this.resumesAt) >= FORGET) {
      this.rate.restart(at);
      this.speed.restart();
    }
    this.limitedAt = at;
  }

  private begin(attempt: Attempt, at: number): void {
    attempt.began = at;
    attempt.idleBefore = this.clock.idle();
    this.underWay.add(attempt);
    attempt.turn();
  }

  /** Counts attempts as slow before they end, so that a service that hangs does not receive more and more. */
  private findSlow(at: number): void {
    for (const attempt of this.underWay) {
      if (!this.isSlow(attempt, at)) return;
      this.underWay.delete(attempt);
      this.rate.slow(attempt.began, at);
    }
  }

  /**
   * Whether it has waited long for the service. The time in which this process was busy does not count:
   * over TLS, handshakes wait for one another here.
   */
  private isSlow({ idleBefore }: Attempt, at: number): boolean {
    return this.paced.judgesSpeed && this.clock.idle() - idleBefore > this.speed.limit(at);
  }
}
