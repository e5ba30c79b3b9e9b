import type { AdaptiveLimiter } from './adaptive-limiter';
import type { PacedAttempt } from './attempt';

/** Milliseconds for which a rush defers readings. */
const LONGEST = 10_000;
/** Milliseconds between two looks at whether the rush is over. */
const LOOK = 100;

/**
 * Limits readings, and lets a rush of connects go first, once and for 10 s at most. Over TLS, connecting keeps the
 * processor busy; and what a connection allocates for its lifetime would lie between the buffers of the histories
 * that are read meanwhile, which leaves gaps in memory that nothing else fits into: 30 KB for each channel.
 */
export class DeferringLimiter implements Pick<AdaptiveLimiter, 'acquire'> {
  private readonly deferred = new Set<DeferredAttempt>();
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param readings limits the readings
   * @param connects limits the connects
   * @param now milliseconds by the clock of both
   */
  constructor(
    private readonly readings: Pick<AdaptiveLimiter, 'acquire'>,
    private readonly connects: Pick<AdaptiveLimiter, 'rushSince'>,
    private readonly now: () => number,
  ) {}

  /** Queues for a turn, as {@link AdaptiveLimiter.acquire} does. */
  acquire(turn: () => void): PacedAttempt {
    if (this.deferred.size === 0 && !this.defers()) return this.readings.acquire(turn);
    const attempt = new DeferredAttempt(turn, () => this.cancel(attempt));
    this.deferred.add(attempt);
    this.timer ??= setTimeout(() => this.look(), LOOK);
    return attempt;
  }

  /** A rush that lasts is that of a service which is away or slow: connecting then keeps nothing busy. */
  private defers(): boolean {
    const { rushSince } = this.connects;
    return rushSince !== undefined && this.now() - rushSince < LONGEST;
  }

  private look(): void {
    this.timer = undefined;
    if (this.defers()) {
      this.timer = setTimeout(() => this.look(), LOOK);
      return;
    }
    const { deferred } = this;
    for (const attempt of deferred) attempt.queue(this.readings);
    deferred.clear();
  }

  private cancel(attempt: DeferredAttempt): void {
    this.deferred.delete(attempt);
    if (this.deferred.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

/** An attempt that is queued later. */
class DeferredAttempt implements PacedAttempt {
  private queued: PacedAttempt | undefined;

  constructor(
    private readonly turn: () => void,
    private readonly leave: () => void,
  ) {}

  queue(limiter: Pick<AdaptiveLimiter, 'acquire'>): void {
    this.queued = limiter.acquire(this.turn);
  }

  succeeded(): void {
    this.queued?.succeeded();
  }

  failed(reason: string, retryAfter?: number): void {
    this.queued?.failed(reason, retryAfter);
  }

  cancel(): void {
    if (this.queued) this.queued.cancel();
    else this.leave();
  }
}
