import type { AdaptiveLimiter, PacedAttempt } from '../http/adaptive-limiters';

/** Waits for a turn to read a history. */
export interface Reader {
  /**
   * `live`: live uploads wait for the reading. `soon`: nothing waits, but uploads would be lost with a gap meanwhile.
   * `routine`: the reading only allows arrivals to be forgotten.
   */
  readonly urgency: 'live' | 'soon' | 'routine';
  /** It may read now. @param turn to be ended by one of its methods when the history has answered or failed */
  granted(turn: PacedAttempt): void;
}

/** How many histories of an application are read at once: commands need connections, too. */
const AT_ONCE = 16;
/** How many of them may be of one kind, so that neither kind blocks the other. */
const OF_A_KIND = AT_ONCE - 1;
/** Milliseconds between two routine readings, so that their cost is not noticeable. */
const ROUTINE_PAUSE = 50;

/** Milliseconds between two looks at whether a rush of connects is over. */
const LOOK = 100;

/** Readers of one kind. Waiting costs no more than an entry of a set. */
class Kind {
  readonly waiting = new Set<Reader>();
  running = 0;

  /** The number of waiting ones that could begin. */
  get ready(): number {
    return Math.min(this.waiting.size, OF_A_KIND - this.running);
  }
}

/**
 * Limits how the histories of an application's devices are read: few at once, and as many a second as the service
 * can handle. Readings for which live uploads wait come first.
 */
export class ReadLimiter {
  readonly #pace: Pick<AdaptiveLimiter, 'acquire'>;
  readonly #connects: Pick<AdaptiveLimiter, 'isRush'> | undefined;
  readonly #live = new Kind();
  readonly #others = new Kind();
  /** Turns that were requested: as many as there are readings that could begin. */
  readonly #asked: PacedAttempt[] = [];
  readonly #routine = new Set<Reader>();
  #routineTimer: NodeJS.Timeout | undefined;
  #rushTimer: NodeJS.Timeout | undefined;
  #turns = 0;
  #failures = 0;

  /**
   * @param pace of the service, which the applications of this process share
   * @param connects the same for channels over TLS, whose rush goes first: connecting keeps the processor busy, and
   *   what a connection allocates for its lifetime would lie between the buffers of the histories that are read
   *   meanwhile, which leaves gaps in memory that nothing else fits into: 30 KB for each channel
   */
  constructor(pace: Pick<AdaptiveLimiter, 'acquire'>, connects?: Pick<AdaptiveLimiter, 'isRush'>) {
    this.#pace = pace;
    this.#connects = connects;
  }

  /** Whether as many readings in a row have failed as may run at once, so that it is not the fault of one device. */
  get isFailing(): boolean {
    return this.#failures >= AT_ONCE;
  }

  /** Queues a reader. It is never granted its turn synchronously. */
  acquire(reader: Reader): void {
    if (reader.urgency === 'routine') {
      this.#routine.add(reader);
      this.#routineTimer ??= setTimeout(() => this.#nextRoutine(), ROUTINE_PAUSE);
      return;
    }
    (reader.urgency === 'live' ? this.#live : this.#others).waiting.add(reader);
    this.#ask();
  }

  cancel(reader: Reader): void {
    this.#routine.delete(reader);
    this.#live.waiting.delete(reader);
    this.#others.waiting.delete(reader);
    this.#ask();
  }

  close(): void {
    this.#routine.clear();
    this.#live.waiting.clear();
    this.#others.waiting.clear();
    clearTimeout(this.#routineTimer);
    clearTimeout(this.#rushTimer);
    this.#ask();
  }

  #nextRoutine(): void {
    this.#routineTimer = undefined;
    const [reader] = this.#routine;
    if (!reader) return;
    this.#routine.delete(reader);
    this.#others.waiting.add(reader);
    this.#routineTimer = setTimeout(() => this.#nextRoutine(), ROUTINE_PAUSE);
    this.#ask();
  }

  /** Requests as many turns as there are readings that could begin. */
  #ask(): void {
    const asked = this.#asked;
    const free = AT_ONCE - this.#live.running - this.#others.running;
    const ready = Math.min(free, this.#live.ready + this.#others.ready);
    const due = ready > 0 && this.#isDeferred() ? 0 : ready;
    while (asked.length > due) asked.pop()?.cancel();
    while (asked.length < due) {
      const attempt = this.#pace.acquire(() => this.#begin(attempt));
      asked.push(attempt);
    }
  }

  /** Whether a rush of connects goes first. If so, this asks again soon. */
  #isDeferred(): boolean {
    if (!this.#connects?.isRush) return false;
    this.#rushTimer ??= setTimeout(() => {
      this.#rushTimer = undefined;
      this.#ask();
    }, LOOK);
    return true;
  }

  #begin(attempt: PacedAttempt): void {
    this.#asked.splice(this.#asked.indexOf(attempt), 1);
    const kind = this.#nextKind();
    const [reader] = kind.waiting;
    if (!reader) return;
    kind.waiting.delete(reader);
    kind.running++;
    reader.granted(this.#turn(kind, attempt));
  }

  /** The first call of any method ends the turn; later calls do nothing. */
  #turn(kind: Kind, attempt: PacedAttempt): PacedAttempt {
    let isOver = false;
    const end = (how: () => void, isSuccess?: boolean): void => {
      if (isOver) return;
      isOver = true;
      how();
      if (isSuccess !== undefined) this.#failures = isSuccess ? 0 : this.#failures + 1;
      kind.running--;
      this.#ask();
    };
    return {
      succeeded: () => end(() => attempt.succeeded(), true),
      failed: (reason, retryAfter) => end(() => attempt.failed(reason, retryAfter), false),
      cancel: () => end(() => attempt.cancel()),
    };
  }

  /** Live ones first, but every sixteenth turn is for the others, so that they get theirs even at a low rate. */
  #nextKind(): Kind {
    const others = this.#others;
    if (this.#live.ready === 0) return others;
    return others.ready > 0 && ++this.#turns % AT_ONCE === 0 ? others : this.#live;
  }
}
