/** Lets some pieces of work run side by side, and the others begin in the order in which they come. */
export class Semaphore {
  #running = 0;
  readonly #most: number;
  readonly #onIdle: () => void;
  readonly #waiting: (() => void)[] = [];

  /** @param onIdle is called when none runs any more */
  constructor(most: number, onIdle: () => void = () => undefined) {
    this.#most = most;
    this.#onIdle = onIdle;
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#most) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else if (--this.#running === 0) this.#onIdle();
    }
  }
}
