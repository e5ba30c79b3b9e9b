import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work before the event loop turns. */
const BEFORE_A_TURN = 50;

/**
 * Lets the event loop turn between pieces of work that take long. All that do such work share it: in one turn, each of many may
 * have a piece to do.
 */
export class TurnLimit {
  #spent = 0;
  #next: Promise<void> | undefined;

  /** Whether work may begin at once. Ask in the same step in which it begins: others may wait for the same turn. */
  get isFree(): boolean {
    return this.#spent < BEFORE_A_TURN;
  }

  /** Resolves in the next turn. Others that wait for it may have spent its time by then. */
  next(): Promise<void> {
    return (this.#next ??= this.#turn());
  }

  /** @param ms that work has taken, or will; less than 0: that it has taken less */
  spend(ms: number): void {
    this.#spent = Math.max(0, this.#spent + ms);
  }

  async #turn(): Promise<void> {
    await nextTurn();
    this.#spent = 0;
    this.#next = undefined;
  }
}
