import type { Dispatcher } from 'undici';

type Controller = Pick<Dispatcher.DispatchController, 'pause' | 'resume'>;

/** Answers of which no more is read before the event loop has turned. */
export class Turns {
  readonly #paused = new Set<Controller>();

  /** Reads no more of an answer before the next turn. */
  await(controller: Controller): void {
    this.#paused.add(controller);
    controller.pause();
    setImmediate(() => this.#resume(controller));
  }

  /**
   * A connection ends: all go on at once. undici asserts that the answer of one that ends is not paused, where nobody can catch
   * it, so that the process would end. Its last piece and its end come in one turn where both arrive at once over TLS, or the
   * piece fills a buffer of Node.js.
   */
  end(): void {
    for (const controller of Array.from(this.#paused)) this.#resume(controller);
  }

  #resume(controller: Controller): void {
    if (this.#paused.delete(controller)) controller.resume();
  }
}
