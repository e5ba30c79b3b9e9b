/** Runs one piece of work at a time. All that ask for it while it runs share the run after it. */
export class Coalescer<T> {
  readonly #work: () => Promise<T>;
  #last: Promise<unknown>;
  #next: Promise<T> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param work must not reject @param ready what the first run waits for */
  constructor(work: () => Promise<T>, ready: Promise<unknown> = Promise.resolve()) {
    this.#work = work;
    this.#last = ready;
  }

  /** @returns the result of a run that has not begun yet */
  run(): Promise<T> {
    if (this.#next) return this.#next;
    const next = this.#last.then(() => {
      this.#next = undefined;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      return this.#work();
    });
    [this.#last, this.#next] = [next, next];
    return next;
  }

  /** Has a run begin within some milliseconds. */
  runWithin(ms: number): void {
    this.#timer ??= setTimeout(() => void this.run(), ms).unref();
  }
}
