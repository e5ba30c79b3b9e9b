import type { PacedAttempt } from '../pace/attempt';
import type { Reader, ReadLimiter } from './read-limiter';

/** Whose history is read. */
export interface ReadingOwner {
  readonly urgency: Reader['urgency'];
  /**
   * One reading; it never fails, and changes nothing once its signal has ended it.
   * @param turn is ended when the history has answered, or could not: others may read theirs
   */
  read(signal: AbortSignal, attempt: number, turn: PacedAttempt): Promise<void>;
}

/** Readings of one history: one at a time, when its turn comes, at once or later. */
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

  /** Whether the history has been asked, or the answer is being looked at. */
  isRunning(): boolean {
    return this.running !== undefined;
  }

  /** Whether a reading is under way, waits for its turn, or is put off. */
  isDue(): boolean {
    return this.running !== undefined || this.waiting || this.timer !== undefined;
  }

  /** Begins when its turn comes, in place of one that is under way or put off. */
  start(attempt = 0): void {
    this.stop();
    if (this.ended) return;
    this.attempt = attempt;
    this.waiting = true;
    this.urgency = this.owner.urgency;
    this.limiter.acquire(this);
  }

  /** Begins after a delay, in milliseconds. */
  later(delay: number, attempt = 0): void {
    clearTimeout(this.timer);
    if (this.ended) return;
    this.timer = setTimeout(() => this.start(attempt), delay);
  }

  /** Breaks off what is under way or put off. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting) this.limiter.cancel(this);
    this.waiting = false;
    this.running?.abort();
    this.running = undefined;
  }

  /** The same, for good. */
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
