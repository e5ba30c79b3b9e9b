/** An entry of a {@link TimerQueue}, which calls it when it is due. Both fields belong to the queue. */
export interface Timed {
  /** Its deadline, in whole ms on the queue's clock. */
  due: number;
  /** Its index in the queue, -1 while it is not queued. */
  index: number;
  onDue(): void;
}

/** The shortest delay, as of a timer of Node.js. */
const SHORTEST = 1;
const LONGEST = 2 ** 31 - 1;

/**
 * Runs the deadlines of thousands of connections on one timer, which exists only while something is
 * queued. It is a binary heap with the next deadline on top. A timer for each deadline would cost
 * about 200 bytes, and Node.js would keep a list for nearly each of them, since their durations are
 * random.
 */
export class TimerQueue {
  /** This machine's monotonic clock, in ms. */
  readonly now: () => number;
  readonly #heap: Timed[] = [];
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Queues it, or moves it if it is queued. @param at on the clock of the queue, in ms */
  set(timed: Timed, at: number): void {
    // Whole, since V8 keeps integers in place and allocates other numbers.
    timed.due = Math.ceil(Math.max(at, this.now() + SHORTEST));
    if (timed.index < 0) timed.index = this.#heap.push(timed) - 1;
    this.#restore(timed);
    this.#arm();
  }

  remove(timed: Timed): void {
    const { index } = timed;
    if (index < 0) return;
    timed.index = -1;
    const last = this.#heap.pop();
    if (last && last !== timed) {
      this.#place(last, index);
      this.#restore(last);
    }
    if (this.size > 0) return;
    clearTimeout(this.#timer);
    this.#wakesAt = Infinity;
  }

  /** A timer that is too early does no harm, so it is only replaced by an earlier one. */
  #arm(): void {
    const first = this.#heap[0];
    if (!first || first.due >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = first.due;
    const delay = Math.min(LONGEST, Math.max(SHORTEST, Math.ceil(first.due - this.now())));
    this.#timer = setTimeout(() => this.#run(), delay);
  }

  #run(): void {
    this.#wakesAt = Infinity;
    // Read once: deadlines that are set meanwhile are later than this.
    const now = this.now();
    try {
      for (let [first] = this.#heap; first && first.due <= now; [first] = this.#heap) {
        this.remove(first);
        first.onDue();
      }
    } finally {
      this.#arm();
    }
  }

  #place(timed: Timed, index: number): void {
    this.#heap[index] = timed;
    timed.index = index;
  }

  #swap(one: Timed, other: Timed): void {
    const { index } = one;
    this.#place(one, other.index);
    this.#place(other, index);
  }

  /** Moves it up or down to where it belongs. */
  #restore(timed: Timed): void {
    for (let up = this.#above(timed); up && up.due > timed.due; up = this.#above(timed)) {
      this.#swap(up, timed);
    }
    for (let down = this.#below(timed); down && down.due < timed.due; down = this.#below(timed)) {
      this.#swap(down, timed);
    }
  }

  #above({ index }: Timed): Timed | undefined {
    return index > 0 ? this.#heap[(index - 1) >> 1] : undefined;
  }

  /** The entry below with the earlier deadline. */
  #below({ index }: Timed): Timed | undefined {
    const left = this.#heap[2 * index + 1];
    const right = this.#heap[2 * index + 2];
    return left && right && right.due < left.due ? right : left;
  }
}
