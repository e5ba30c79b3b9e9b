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

/**
 * Calls a function with each of many: of 10,000 commands or channels, say, each of which ends a message or closes a
 * socket. The event loop turns in between.
 */
export async function inSlices<T>(all: readonly T[], call: (each: T) => void): Promise<void> {
  const slices = new Slices();
  for (const each of all) {
    if (slices.isOver) await slices.next();
    call(each);
    // So that what its caller does at once counts, too.
    await Promise.resolve();
  }
}
