import type { AdaptiveLimiter } from './adaptive-limiter';
import type { PacedAttempt } from './attempt';

/** More connects than this that wait for their turn are a rush. */
const RUSH = 100;
/** Milliseconds for which a rush defers readings, and after which they may go on for as long. */
const PHASE = 10_000;
/** Milliseconds between two looks at whether the rush is over. */
const LOOK = 100;

/**
 * Limits readings, and lets a rush of connects go first. Over TLS, connecting keeps the processor busy; and what a
 * connection allocates for its lifetime would lie between the buffers of the histories that are read meanwhile, which
 * leaves gaps in memory that nothing else fits into: 30 KB for each channel.
 */
export class DeferringLimiter implements Pick<AdaptiveLimiter, 'acquire'> {
  private readonly deferred = new Set<DeferredAttempt>();
  private timer: NodeJS.Timeout | undefined;
  /** When the rush was first seen. */
  private since: number | undefined;

  /**
   * @param readings limits the readings
   * @param connects how many of them wait for their turn
   * @param now milliseconds from any point on
   */
  constructor(
    private readonly readings: Pick<AdaptiveLimiter, 'acquire'>,
    private readonly connects: { readonly queued: number },
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

  private defers(): boolean {
    if (this.connects.queued <= RUSH) {
      this.since = undefined;
      return false;
    }
    const at = this.now();
    this.since ??= at;
    return (at - this.since) % (2 * PHASE) < PHASE;
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
