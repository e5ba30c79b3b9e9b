import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work before the event loop turns. */
const SLICE = 8;

/** Lets the event loop turn after each slice of work. */
export class Slices {
  #began = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#began > SLICE;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}
