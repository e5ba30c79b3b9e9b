import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { KeptValue } from './folder';

/** Milliseconds between the end of a write and the next one, and after one that has failed. */
const PAUSE = 1000;
const RETRY = 5000;

/** Milliseconds that a store may take for the last write before a stop. */
const LAST_WRITE = 3000;

/**
 * Writes a value that changes often: at most once a second, one write at a time, and once more when it is closed. Only who
 * flushes it waits for the store. What could not be written is written again until it is.
 */
export class Saver {
  readonly #kept: Pick<KeptValue, 'write'>;
  readonly #snapshot: () => object;
  readonly #failed: (error: unknown) => void;
  readonly #closing = new AbortController();
  #isChanged = false;
  /** Whether something has changed in this turn that has not been passed on. */
  #isFresh = false;
  /** Whether the store has failed since it last worked: that is reported once. */
  #isBroken = false;
  #writing: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  /** Those who wait for the next write. */
  #flushing: (() => void)[] = [];
  #pause = new AbortController();

  /**
   * @param snapshot returns the value to write, in one turn
   * @param failed is called if the store fails, and not again before it has worked
   */
  constructor(
    kept: Pick<KeptValue, 'write'>,
    snapshot: () => object,
    failed: (error: unknown) => void,
  ) {
    this.#kept = kept;
    this.#snapshot = snapshot;
    this.#failed = failed;
  }

  /**
   * The value has changed.
   * @param isPassedOn false if what has changed reaches its receiver in the next turn, and is lost if everything is closed
   * before: then it is not written
   */
  changed(isPassedOn = true): void {
    this.#isChanged = true;
    if (!isPassedOn) {
      if (!this.#isFresh) setImmediate(() => (this.#isFresh = false));
      this.#isFresh = true;
    }
    if (!this.#closing.signal.aborted) this.#writing ??= this.#writeAll();
  }

  /** Writes the value now. Resolves once that is done, or has failed. */
  flush(): Promise<void> {
    const flushed = new Promise<void>((resolve) => this.#flushing.push(resolve));
    this.changed();
    this.#pause.abort();
    return flushed;
  }

  /** Resolves once everything has been written, or could not be. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    this.#pause.abort();
    if (this.#isFresh) this.#isChanged = false;
    const over = new AbortController();
    const limit = sleep(LAST_WRITE, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([this.#writing, limit]);
    over.abort();
  }

  async #writeAll(): Promise<void> {
    // Many changes that come at the same time are one write.
    await nextTurn();
    while (this.#isChanged) {
      this.#isChanged = false;
      const flushed = this.#flushing.splice(0);
      try {
        await this.#kept.write(this.#snapshot());
        this.#isBroken = false;
      } catch (error) {
        if (!this.#isBroken) this.#failed(error);
        this.#isBroken = true;
        this.#isChanged = !this.#closing.signal.aborted;
      }
      for (const resolve of flushed) resolve();
      await this.#rest();
    }
    this.#writing = undefined;
    for (const resolve of this.#flushing.splice(0)) resolve();
  }

  /** Waits until the next write may begin: not at all if somebody waits for it, or if this is closed. */
  async #rest(): Promise<void> {
    this.#pause = new AbortController();
    if (this.#flushing.length > 0 || this.#closing.signal.aborted) return;
    const { signal } = this.#pause;
    await sleep(this.#isBroken ? RETRY : PAUSE, undefined, { signal }).catch(() => undefined);
  }
}
