/** All timers of one simulator, so that {@link close} can clear them. */
export class Timers {
  readonly #running = new Set<NodeJS.Timeout>();
  #isClosed = false;

  /** Runs once after `ms`. @returns a function that cancels it */
  after(ms: number, run: () => void): () => void {
    if (this.#isClosed) return () => undefined;
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      run();
    }, ms);
    this.#running.add(timer);
    return () => {
      clearTimeout(timer);
      this.#running.delete(timer);
    };
  }

  /** Runs every `ms`, the first time after `first`. */
  every(ms: number, first: number, run: () => void): void {
    const tick = (): void => {
      this.after(ms, tick);
      run();
    };
    this.after(first, tick);
  }

  /** Clears every timer and sets no further one. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}
