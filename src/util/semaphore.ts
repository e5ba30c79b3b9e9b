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

  /** Takes a place if one is free. */
  acquire(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /** Waits for a place. @param granted is called with it @returns a function that gives the wait up */
  wait(granted: () => void): () => void {
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
    if (!this.acquire()) await new Promise<void>((resolve) => this.wait(resolve));
    try {
      return await work();
    } finally {
      this.release();
    }
  }
}
