/** Lets some pieces of work run side by side, and the others begin in the order in which they come. */
export class Semaphore {
  #free: number;
  readonly #most: number;
  readonly #onIdle: () => void;
  /** A set keeps the order, and any of them can leave it in constant time. */
  readonly #waiting = new Set<() => void>();

  /** @param onIdle is called when none runs any more */
  constructor(most: number, onIdle: () => void = () => undefined) {
    this.#free = this.#most = most;
    this.#onIdle = onIdle;
  }

  get isBusy(): boolean {
    return this.#free < this.#most;
  }

  /**
   * Takes a place, or waits for one.
   * @param granted is called once it has one, unless one was free
   * @returns undefined if one was free, else a function that gives the wait up
   */
  acquire(granted: () => void): (() => void) | undefined {
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    this.#waiting.add(granted);
    return () => void this.#waiting.delete(granted);
  }

  /** Frees a place: who has waited longest gets it. */
  release(): void {
    const [next] = this.#waiting;
    if (next) {
      this.#waiting.delete(next);
      next();
    } else if (++this.#free === this.#most) this.#onIdle();
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.add(resolve));
    try {
      return await work();
    } finally {
      this.release();
    }
  }
}
