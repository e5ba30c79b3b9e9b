/** An entry of a {@link TimerQueue}, which calls it when it is due. */
export interface Timed {
  /** Its deadline, in whole ms on the queue's clock. It belongs to the queue. */
  due: number;
  onDue(): void;
}

/** The shortest and the longest delay of a timer of Node.js. */
const SHORTEST = 1;
const LONGEST = 2 ** 31 - 1;
/** Entries for each of which a look at all of them is a millisecond later: then looks take less than 1 % of the time. */
const FOR_A_MILLISECOND = 256;

/**
 * Runs the deadlines of thousands of connections on one timer, which exists only while something is queued. A timer for
 * each of them would cost some 200 bytes, and Node.js would keep a list for nearly each, since their durations are random.
 */
export class TimerQueue {
  /** This machine's monotonic clock, in ms. */
  readonly now: () => number;
  readonly #queued = new Set<Timed>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  get size(): number {
    return this.#queued.size;
  }

  has(timed: Timed): boolean {
    return this.#queued.has(timed);
  }

  /** Queues it, or moves it if it is queued. @param at on the clock of the queue, in ms */
  set(timed: Timed, at: number): void {
    // Whole, since V8 keeps integers in place and allocates other numbers.
    timed.due = Math.ceil(Math.max(at, this.now() + SHORTEST));
    this.#queued.add(timed);
    this.#wakeAt(timed.due);
  }

  remove(timed: Timed): void {
    if (!this.#queued.delete(timed) || this.size > 0) return;
    clearTimeout(this.#timer);
    this.#wakesAt = Infinity;
  }

  /** A timer that is too early does no harm, so it is only replaced by an earlier one. */
  #wakeAt(due: number): void {
    if (due >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = due;
    const soonest = Math.max(SHORTEST, Math.floor(this.size / FOR_A_MILLISECOND));
    const delay = Math.min(LONGEST, Math.max(soonest, Math.ceil(due - this.now())));
    this.#timer = setTimeout(() => this.#run(), delay);
  }

  #run(): void {
    this.#wakesAt = Infinity;
    // Read once: deadlines that are set meanwhile are later than this.
    const now = this.now();
    const due: Timed[] = [];
    let next = Infinity;
    for (const timed of this.#queued) {
      if (timed.due <= now) due.push(timed);
      else next = Math.min(next, timed.due);
    }
    due.sort((one, other) => one.due - other.due);
    try {
      for (let timed = due.shift(); timed; timed = due.shift()) {
        // One before it may have removed or moved it.
        if (timed.due > now || !this.#queued.delete(timed)) continue;
        timed.onDue();
      }
    } finally {
      if (due.length > 0) next = now;
      if (this.size > 0) this.#wakeAt(next);
    }
  }
}
