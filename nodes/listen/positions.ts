import { isPosition, type Position } from '../../src/for-nodes';
import type { Kept } from '../common/kept';
import { isObject } from '../common/shared.config';

/** Makes a position: with each upload, there is another. */
type Make = () => Position;

/**
 * How far the uploads of each device have been emitted, written at most once a second and when the listener closes.
 * Node-RED passes a message on in the next turn, and drops it if it is stopped before, so that a position counts a turn
 * later, too.
 */
export class Positions {
  /** By chip number, the position that a start would begin with, or what makes it. */
  readonly #passedOn = new Map<string, Position | Make>();
  /** Those of messages that were sent in this turn. */
  readonly #sent = new Map<string, Make>();

  readonly #kept: Kept;

  private constructor(kept: Kept, saved: unknown) {
    this.#kept = kept;
    for (const [chipid, position] of isObject(saved) ? Object.entries(saved) : [])
      if (isPosition(position)) this.#passedOn.set(chipid, position);
  }

  /**
   * @param failed is called if the store cannot be read
   * @param signal ends the wait for a store that cannot be read
   */
  static async read(
    kept: Kept,
    failed: (error: unknown) => void,
    signal: AbortSignal,
  ): Promise<Positions> {
    return new Positions(kept, await kept.readSurely(failed, signal));
  }

  /** Why they do not survive a restart; undefined if they do. */
  get problem(): string | undefined {
    return this.#kept.problem;
  }

  get(chipid: string): Position | undefined {
    const position = this.#sent.get(chipid) ?? this.#passedOn.get(chipid);
    return typeof position === 'function' ? position() : position;
  }

  /** A message of a device was sent. @param position makes it, once it is written */
  set(chipid: string, position: Make): void {
    if (this.#sent.size === 0) setImmediate(() => this.#passOn());
    this.#sent.set(chipid, position);
  }

  forget(chipid: string): void {
    this.#sent.delete(chipid);
    if (this.#passedOn.delete(chipid)) this.#kept.write(this.#snapshot);
  }

  /** Node-RED drops what it has not passed on yet. */
  close(): void {
    this.#sent.clear();
  }

  #passOn(): void {
    if (this.#sent.size === 0) return;
    for (const [chipid, position] of this.#sent) this.#passedOn.set(chipid, position);
    this.#sent.clear();
    this.#kept.write(this.#snapshot);
  }

  readonly #snapshot = (): object => {
    for (const [chipid, position] of this.#passedOn)
      if (typeof position === 'function') this.#passedOn.set(chipid, position());
    return Object.fromEntries(this.#passedOn);
  };
}
