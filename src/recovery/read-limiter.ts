/** Who waits for a turn to read a history. */
export interface Reader {
  /** Live uploads wait for it: before those for which nothing waits. */
  readonly urgent: boolean;
  /** It may read now, until {@link ReadLimiter.release}. */
  granted(): void;
}

/** Histories of one application that are read at once: commands need connections, too. */
const AT_ONCE = 8;
/** Of one kind at most, so that neither keeps the other waiting for good. */
const OF_A_KIND = AT_ONCE - 1;
/** Readings a second for which nothing waits: as many as channels are opened at first. */
const PER_SECOND = 50;

/**
 * Limits the readings of the histories of an application's devices: few at once, and those for which
 * no live upload waits spread over time. A reader that waits costs its place in a set.
 */
export class ReadLimiter {
  private readonly urgent = new Set<Reader>();
  private readonly others = new Set<Reader>();
  private urgentNow = 0;
  private othersNow = 0;
  /** When the next reading may begin for which nothing waits. */
  private due = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Queues a reader. Its turn may come at once. */
  acquire(reader: Reader): void {
    (reader.urgent ? this.urgent : this.others).add(reader);
    this.next();
  }

  /** Takes a reader out of the queue. */
  cancel(reader: Reader): void {
    this.urgent.delete(reader);
    this.others.delete(reader);
    if (this.others.size === 0) this.clearTimer();
  }

  /** A reading is over. @param urgent as the reader was when its turn came */
  release(urgent: boolean): void {
    if (urgent) this.urgentNow--;
    else this.othersNow--;
    this.next();
  }

  /** Forgets who waits. */
  close(): void {
    this.urgent.clear();
    this.others.clear();
    this.clearTimer();
  }

  private next(): void {
    while (this.urgent.size > 0 && this.urgentNow < OF_A_KIND && this.free()) {
      this.urgentNow++;
      this.begin(this.urgent);
    }
    if (this.others.size === 0 || this.othersNow >= OF_A_KIND || !this.free() || this.timer) return;
    this.timer = setTimeout(() => this.paced(), Math.max(0, Math.ceil(this.due - this.now())));
  }

  private paced(): void {
    this.timer = undefined;
    const now = this.now();
    // A timer may be early; its own lateness is made up for, up to one reading.
    if (now >= this.due && this.others.size > 0 && this.othersNow < OF_A_KIND && this.free()) {
      const step = 1000 / PER_SECOND;
      this.due = (now - this.due < step ? this.due : now) + step;
      this.othersNow++;
      this.begin(this.others);
    }
    this.next();
  }

  private begin(waiting: Set<Reader>): void {
    const [reader] = waiting;
    if (!reader) return;
    waiting.delete(reader);
    reader.granted();
  }

  private free(): boolean {
    return this.urgentNow + this.othersNow < AT_ONCE;
  }

  private clearTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
