import { isPosition, type Position, type Keeping } from '../../src/index';

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

/** A device that has sent. */
class Sender {
  /** Of what it has sent in this turn. */
  now: Make | undefined;
  saved: Later | undefined;

  constructor(readonly key: string) {}
}

/**
 * How far the uploads of each device have been emitted. Node-RED passes a message on in the next turn, and drops it if it is
 * stopped before, so that a position counts a turn later, too.
 */
export class Positions {
  /** Not filled anew in each turn, which would cost more than all else that is done here with an upload. */
  readonly #senders = new Map<string, Sender>();
  /** Those that have sent in this turn. */
  #sent: Sender[] = [];
  readonly #store: Keeping;
  readonly #prefix: string;
  readonly #passOn = (): void => {
    for (const sender of this.#sent) {
      const { now, saved, key } = sender;
      if (!now) continue;
      sender.now = undefined;
      if (saved && !saved.isWritten && this.#store.get(key) === saved) saved.make = now;
      else this.#store.update(key, (sender.saved = new Later(now)));
    }
    this.#sent = [];
  };

  /** @param node the id of the listener */
  constructor(store: Keeping, node: string) {
    this.#store = store;
    this.#prefix = `position:${node}:`;
  }

  get(chipid: string): Position | undefined {
    const now = this.#senders.get(chipid)?.now;
    if (now) return now();
    const value = this.#store.get(this.#prefix + chipid);
    const position: unknown = value instanceof Later ? value.toJSON() : value;
    return isPosition(position) ? position : undefined;
  }

  /** A message of a device was sent. @param position makes it, once it is written */
  set(chipid: string, position: Make): void {
    let sender = this.#senders.get(chipid);
    if (!sender) this.#senders.set(chipid, (sender = new Sender(this.#prefix + chipid)));
    if (!sender.now && this.#sent.push(sender) === 1) setImmediate(this.#passOn);
    sender.now = position;
  }

  forget(chipid: string): void {
    this.#drop(chipid);
    const key = this.#prefix + chipid;
    if (this.#store.get(key) !== undefined) this.#store.update(key, undefined);
  }

  /** Node-RED drops what it has not passed on yet. */
  close(): void {
    for (const chipid of this.#senders.keys()) this.#drop(chipid);
  }

  #drop(chipid: string): void {
    const sender = this.#senders.get(chipid);
    if (sender) sender.now = undefined;
    this.#senders.delete(chipid);
  }
}
