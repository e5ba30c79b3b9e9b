import { isPosition, type Position, type Store } from '../../src/for-nodes';

/** Makes a position: with each upload, there is another. */
type Make = () => Position;

/** A position that is made when it is written. Until then, the store need not be told that there is a later one. */
class Later {
  isWritten = false;

  constructor(public make: Make) {}

  toJSON(): Position {
    this.isWritten = true;
    return this.make();
  }
}

/**
 * How far the uploads of each device have been emitted. Node-RED passes a message on in the next turn, and drops it if it is
 * stopped before, so that a position counts a turn later, too.
 */
export class Positions {
  /** Of devices that have sent in this turn. */
  #sent = new Map<string, Make>();
  readonly #store: Store;
  readonly #prefix: string;

  /** @param node the id of the listener */
  constructor(store: Store, node: string) {
    this.#store = store;
    this.#prefix = `position:${node}:`;
  }

  get(chipid: string): Position | undefined {
    const sent = this.#sent.get(chipid);
    if (sent) return sent();
    const value = this.#store.get(this.#prefix + chipid);
    const position: unknown = value instanceof Later ? value.toJSON() : value;
    return isPosition(position) ? position : undefined;
  }

  /** A message of a device was sent. @param position makes it, once it is written */
  set(chipid: string, position: Make): void {
    if (this.#sent.size === 0) setImmediate(() => this.#passOn());
    this.#sent.set(chipid, position);
  }

  forget(chipid: string): void {
    this.#sent.delete(chipid);
    const key = this.#prefix + chipid;
    if (this.#store.get(key) !== undefined) this.#store.update(key, undefined);
  }

  /** Node-RED drops what it has not passed on yet. */
  close(): void {
    this.#sent.clear();
  }

  #passOn(): void {
    for (const [chipid, make] of this.#sent) {
      const key = this.#prefix + chipid;
      const before = this.#store.get(key);
      if (before instanceof Later && !before.isWritten) before.make = make;
      else this.#store.update(key, new Later(make));
    }
    this.#sent.clear();
  }
}
