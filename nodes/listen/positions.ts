import { isPosition, type Position } from '../../src/for-nodes';
import type { Kept } from '../common/kept';
import { isObject } from '../common/shared.config';

/** A position, or what makes it: with each upload, there is another. */
type Made = Position | (() => Position);
const made = (position: Made): Position => (typeof position === 'function' ? position() : position);

/** How far the uploads of one device have been emitted. */
export class KeptPosition {
  /** The position that a start would begin with. */
  made: Made | undefined;
  /** That of a message which was sent in this turn. */
  #sent: (() => Position) | undefined;

  constructor(
    private readonly positions: Pick<Positions, 'sent'>,
    made?: Position,
  ) {
    this.made = made;
  }

  get(): Position | undefined {
    const position = this.#sent ?? this.made;
    return position && made(position);
  }

  /** @param position makes it, once it is written */
  set(position: () => Position): void {
    if (!this.#sent) this.positions.sent(this);
    this.#sent = position;
  }

  /** Node-RED has passed the message on. */
  passedOn(): void {
    this.made = this.#sent ?? this.made;
    this.#sent = undefined;
  }
}

/**
 * How far the uploads of each device have been emitted, written at most once a second and when the listener closes.
 * Node-RED passes a message on in the next turn, and drops it if it is stopped before, so that a position counts a turn
 * later, too.
 */
export class Positions {
  readonly #positions = new Map<string, KeptPosition>();
  /** The positions of messages that were sent in this turn. */
  #sent: KeptPosition[] = [];

  private constructor(
    private readonly kept: Kept,
    saved: unknown,
  ) {
    for (const [chipid, position] of isObject(saved) ? Object.entries(saved) : [])
      if (isPosition(position)) this.#positions.set(chipid, new KeptPosition(this, position));
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
    return this.kept.problem;
  }

  of(chipid: string): KeptPosition {
    let position = this.#positions.get(chipid);
    if (!position) {
      position = new KeptPosition(this);
      this.#positions.set(chipid, position);
    }
    return position;
  }

  forget(chipid: string): void {
    if (this.#positions.get(chipid)?.made) this.kept.write(this.#snapshot);
    this.#positions.delete(chipid);
  }

  /** Node-RED drops what it has not passed on yet. */
  close(): void {
    this.#sent = [];
  }

  /** A message of a device was sent, the first one in this turn. */
  sent(position: KeptPosition): void {
    if (this.#sent.length === 0) setImmediate(() => this.#passedOn());
    this.#sent.push(position);
  }

  #passedOn(): void {
    if (this.#sent.length === 0) return;
    for (const position of this.#sent) position.passedOn();
    this.#sent = [];
    this.kept.write(this.#snapshot);
  }

  readonly #snapshot = (): object => {
    const written: Record<string, Position> = {};
    for (const [chipid, position] of this.#positions) {
      if (!position.made) continue;
      position.made = made(position.made);
      written[chipid] = position.made;
    }
    return written;
  };
}
