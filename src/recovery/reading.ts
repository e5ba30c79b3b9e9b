import { isDeviceCloudError, isWorthRetry } from '../errors';
import type { PacedAttempt } from '../http/adaptive-limiters';
import type { Reader, ReadLimiter } from '../history/read-limiter';

/** How often a reading is retried before its failure is reported, like every read that only reaches the cloud. */
export const SILENT_TRIES = 2;

/** Whether another try may succeed: the service, or the way to it, failed or is overloaded. */
export const isPassing = (error: unknown): boolean =>
  isWorthRetry(error) || (isDeviceCloudError(error) && error.statusCode === 429);

/** Reads a history when its turn has come. */
export interface ReadingOwner {
  readonly urgency: Reader['urgency'];
  /**
   * Makes one reading. It never rejects, and changes nothing once its signal is aborted.
   * @param turn to be ended as soon as the history has answered or failed, so that other devices can read theirs
   */
  read(signal: AbortSignal, attempt: number, turn: PacedAttempt): Promise<void>;
}

/** Schedules the readings of one history: one at a time, each when its turn has come. */
export class Reading implements Reader {
  urgency: Reader['urgency'] = 'soon';
  private attempt = 0;
  private waiting = false;
  private running: AbortController | undefined;
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(
    private readonly limiter: Pick<ReadLimiter, 'acquire' | 'cancel'>,
    private readonly owner: ReadingOwner,
  ) {}

  /** Whether a request is under way, or its answer is being processed. */
  isRunning(): boolean {
    return this.running !== undefined;
  }

  /** Whether a reading is under way, waits for its turn, or is scheduled. */
  isDue(): boolean {
    return this.running !== undefined || this.waiting || this.timer !== undefined;
  }

  /** Queues for a turn. It replaces a reading that is under way or scheduled. */
  start(attempt = 0): void {
    this.stop();
    if (this.ended) return;
    this.attempt = attempt;
    this.waiting = true;
    this.urgency = this.owner.urgency;
    this.limiter.acquire(this);
  }

  /** Schedules a reading. @param delay in milliseconds */
  later(delay: number, attempt = 0): void {
    clearTimeout(this.timer);
    if (this.ended) return;
    this.timer = setTimeout(() => this.start(attempt), delay);
  }

  /** Schedules a reading, or leaves it to one that is under way or waits for its turn. */
  soon(delay: number): void {
    if (!this.waiting && !this.running) this.later(delay);
  }

  /** Cancels what is under way or scheduled. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting) this.limiter.cancel(this);
    this.waiting = false;
    this.running?.abort();
    this.running = undefined;
  }

  /** The same, and no further reading can start. */
  end(): void {
    this.ended = true;
    this.stop();
  }

  granted(turn: PacedAttempt): void {
    this.waiting = false;
    const abort = new AbortController();
    this.running = abort;
    const over = (): void => {
      turn.cancel();
      if (this.running === abort) this.running = undefined;
    };
    this.owner.read(abort.signal, this.attempt, turn).then(over, over);
  }
}
