/** An answer is slow if it waits for the service more than twice as long as the quickest one … */
const TIMES = 2;
/** … and longer than this, in ms. */
const NEVER_SLOW = 100;
/** The highest limit, in ms: however slow all answers are, one that takes longer is slow. */
const ALWAYS_SLOW = 5000;
/** The limit in ms before any has succeeded. */
const SLOW_AT_FIRST = 1000;
/** Milliseconds in which the remembered quickest answer doubles: a service may become permanently slower. */
const DOUBLES_IN = 10_000;

/** Recognises slow handshakes and readings by comparing them with the quickest recent one. */
export class AnswerSpeed {
  private quickest = Infinity;
  private quickestAt = 0;

  /** Forgets what it knew. */
  restart(): void {
    this.quickest = Infinity;
  }

  /** An answer came. @param duration milliseconds */
  add(duration: number, at: number): void {
    this.quickest = Math.min(duration, this.quickestNow(at));
    this.quickestAt = at;
  }

  /** The wait for the service, in ms, above which an answer is slow. */
  limit(at: number): number {
    const quickest = this.quickestNow(at);
    if (quickest === Infinity) return SLOW_AT_FIRST;
    return Math.min(ALWAYS_SLOW, Math.max(NEVER_SLOW, TIMES * quickest));
  }

  private quickestNow(at: number): number {
    return this.quickest * 2 ** ((at - this.quickestAt) / DOUBLES_IN);
  }
}
