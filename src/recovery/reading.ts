import { isDeviceCloudError, isWorthRetry } from '../errors';
import type { HistoryTurn } from '../history/record-reader';
import type { ServiceLimiter } from '../http/service-limiter';
import { backoff } from '../util/backoff';

/** How often a reading is retried before its failure is reported, like every read that only reaches the cloud. */
export const SILENT_TRIES = 2;

/** Whether another try may succeed: the service, or the way to it, failed or is overloaded. */
export const isPassing = (error: unknown): boolean =>
  isWorthRetry(error) || (isDeviceCloudError(error) && error.statusCode === 429);

/** The longest time for which live uploads are held back, in ms: they must not stop while the history is down. */
export const MAX_HOLD = 60_000;

const RETRY_BASE = 500;
const RETRY_CAP = 30_000;
/** Well below {@link MAX_HOLD}, so that a history that recovers in time is noticed in time. */
const HOLDING_CAP = 10_000;
const FOLLOW_UP_BASE = 2000;
const FOLLOW_UP_CAP = 30_000;

/** Half fixed, half random, so that devices neither retry at once nor all together. */
const FIXED = 0.5;

/**
 * Milliseconds until a failed reading is retried.
 * @param holding whether live uploads wait for it
 */
export const retryDelay = (attempt: number, holding: boolean, random: () => number): number =>
  backoff(attempt, RETRY_BASE, holding ? HOLDING_CAP : RETRY_CAP, random, FIXED);

/**
 * Milliseconds until the history is read again because something was left open or was unreadable: one to two
 * seconds at first, doubling up to thirty.
 */
export const followUpDelay = (attempt: number, random: () => number): number =>
  backoff(attempt, FOLLOW_UP_BASE, FOLLOW_UP_CAP, random, FIXED);

export interface ReadingOwner {
  /**
   * Makes one reading. It never rejects, and changes nothing once its signal is aborted.
   * @param turn to be ended as soon as the history has answered or failed, so that other devices can read theirs
   */
  read(signal: AbortSignal, attempt: number, turn: HistoryTurn): Promise<void>;
}

/** Schedules the readings of one history: one at a time, each when its turn has come. */
export class Reading {
  #attempt = 0;
  #isWaiting = false;
  /** Leaves the queue, or frees the place. */
  #release: (() => void) | undefined;
  #running: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  readonly #limiter: Pick<ServiceLimiter, 'acquire' | 'pause'>;
  readonly #owner: ReadingOwner;

  constructor(limiter: Pick<ServiceLimiter, 'acquire' | 'pause'>, owner: ReadingOwner) {
    this.#limiter = limiter;
    this.#owner = owner;
  }

  /** Whether a request is under way, or its answer is being processed. */
  isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Whether a reading is under way, waits for its turn, or is scheduled. */
  isDue(): boolean {
    return this.#running !== undefined || this.#isWaiting || this.#timer !== undefined;
  }

  /** Queues for a turn. It replaces a reading that is under way or scheduled. */
  start(attempt = 0): void {
    this.stop();
    if (this.#ended) return;
    this.#attempt = attempt;
    this.#isWaiting = true;
    const release = (): void => place.release();
    const place = this.#limiter.acquire(() => this.#granted(release));
    this.#release = release;
  }

  /** Schedules a reading. @param delay in milliseconds */
  later(delay: number, attempt = 0): void {
    clearTimeout(this.#timer);
    if (this.#ended) return;
    this.#timer = setTimeout(() => this.start(attempt), delay);
  }

  /** Schedules a reading, unless one is under way or waits for its turn. */
  soon(delay: number): void {
    if (!this.#isWaiting && !this.#running) this.later(delay);
  }

  /** Cancels the reading that is under way or scheduled. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isWaiting) this.#release?.();
    this.#isWaiting = false;
    this.#running?.abort();
    this.#running = undefined;
  }

  /** The same, and no further reading can start. */
  end(): void {
    this.#ended = true;
    this.stop();
  }

  #granted(release: () => void): void {
    this.#isWaiting = false;
    const abort = new AbortController();
    this.#running = abort;
    const turn = {
      ended: (retryAfter?: number): void => {
        if (retryAfter !== undefined) this.#limiter.pause(retryAfter);
        release();
      },
    };
    const over = (): void => {
      turn.ended();
      if (this.#running === abort) this.#running = undefined;
    };
    this.#owner.read(abort.signal, this.#attempt, turn).then(over, over);
  }
}
