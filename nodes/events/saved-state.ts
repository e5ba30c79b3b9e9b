import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Node } from 'node-red';
import { contextGet, contextSet } from '../common/context';

const KEY = 'state';

/** Milliseconds that the store may take to answer when the node starts, and when it closes. */
const READ_LIMIT = 5000;
const FLUSH_LIMIT = 3000;
/** Milliseconds between two writes: a state of thousands of devices is not written for each of them. */
const PAUSE = 1000;

const slow = (): Error =>
  new Error('The context store does not answer: the state before this start is not known.');

/** Resolves to what `work` does, or to undefined after `ms`. */
async function atMost<T>(ms: number, work: Promise<T>): Promise<{ value: T } | undefined> {
  const over = new AbortController();
  const timer = sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
  try {
    return await Promise.race([work.then((value) => ({ value })), timer]);
  } finally {
    over.abort();
  }
}

/**
 * The state of a watch in the node's context, which lasts as long as its store does. No event waits for the
 * store: it is written after the fact, at most once a second, and only if something has changed. Node-RED passes a
 * message on in the next turn, and drops it if it is stopped before: a change of the last turn is not written when the node closes.
 */
export class SavedState {
  readonly #node: Node;
  readonly #snapshot: () => object;
  readonly #failed: (error: unknown) => void;
  readonly #closing = new AbortController();
  #changed = false;
  /** Whether something has changed in this turn. */
  #isFresh = false;
  /** Whether the store has failed since it last worked: it is reported once. */
  #broken = false;
  #writing: Promise<void> | undefined;

  /**
   * @param snapshot returns the state to write
   * @param failed is called when the store fails, and not again before it has worked
   */
  constructor(node: Node, snapshot: () => object, failed: (error: unknown) => void) {
    this.#node = node;
    this.#snapshot = snapshot;
    this.#failed = failed;
  }

  /** Reads the saved state; undefined if nothing was saved, or if the store does not answer in time. */
  async read(): Promise<unknown> {
    try {
      const read = await atMost(READ_LIMIT, contextGet(this.#node, KEY));
      if (!read) throw slow();
      return read.value;
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  /** The state has changed. */
  changed(): void {
    this.#changed = true;
    if (!this.#isFresh) setImmediate(() => (this.#isFresh = false));
    this.#isFresh = true;
    if (!this.#closing.signal.aborted) this.#writing ??= this.#writeAll();
  }

  /** Resolves once everything has been written, or could not be. */
  async close(): Promise<void> {
    this.#closing.abort();
    // All that was not written yet is reported again after the start: a second of events at most.
    if (this.#isFresh) this.#changed = false;
    if (this.#writing) await atMost(FLUSH_LIMIT, this.#writing);
  }

  async #writeAll(): Promise<void> {
    const { signal } = this.#closing;
    // A reading changes many devices: one write has all of them.
    await nextTurn();
    while (this.#changed) {
      this.#changed = false;
      await this.#write();
      await sleep(PAUSE, undefined, { signal }).catch(() => undefined);
    }
    this.#writing = undefined;
  }

  async #write(): Promise<void> {
    try {
      await contextSet(this.#node, KEY, this.#snapshot());
      this.#broken = false;
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    if (!this.#broken) this.#failed(error);
    this.#broken = true;
  }
}
