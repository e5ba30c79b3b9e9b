import { isPosition, type Position } from '../../src/for-nodes';
import type { Kept } from '../common/kept';
import { isObject } from '../common/shared.config';

/** Makes a position: with each upload, there is another. */
type Make = () => Position;

interface DevicePosition {
  /** What a start would begin with, or what makes it. */
  passedOn: Position | Make | undefined;
  /** That of the last message that was sent in this turn. */
  sent: Make | undefined;
}

/**
 * How far the uploads of each device have been emitted, written at most once a second and when the listener closes.
 * Node-RED passes a message on in the next turn, and drops it if it is stopped before, so that a position counts a turn
 * later, too.
 */
export class Positions {
  /** By chip number. */
  readonly #devices = new Map<string, DevicePosition>();
  /** Those that have sent in this turn. */
  #sent: DevicePosition[] = [];
  readonly #kept: Kept;

  private constructor(kept: Kept, saved: unknown) {
    this.#kept = kept;
    for (const [chipid, position] of isObject(saved) ? Object.entries(saved) : [])
      if (isPosition(position)) this.#devices.set(chipid, { passedOn: position, sent: undefined });
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
    const device = this.#devices.get(chipid);
    const position = device?.sent ?? device?.passedOn;
    return typeof position === 'function' ? position() : position;
  }

  /** A message of a device was sent. @param position makes it, once it is written */
  set(chipid: string, position: Make): void {
    let device = this.#devices.get(chipid);
    if (!device) this.#devices.set(chipid, (device = { passedOn: undefined, sent: undefined }));
    if (!device.sent) {
      if (this.#sent.length === 0) setImmediate(() => this.#passOn());
      this.#sent.push(device);
    }
    device.sent = position;
  }

  forget(chipid: string): void {
    const device = this.#devices.get(chipid);
    if (!device) return;
    this.#devices.delete(chipid);
    if (device.passedOn) this.#kept.write(this.#snapshot);
  }

  /** Node-RED drops what it has not passed on yet. */
  close(): void {
    for (const device of this.#sent) device.sent = undefined;
    this.#sent = [];
  }

  #passOn(): void {
    if (this.#sent.length === 0) return;
    for (const device of this.#sent) {
      device.passedOn = device.sent;
      device.sent = undefined;
    }
    this.#sent = [];
    this.#kept.write(this.#snapshot);
  }

  readonly #snapshot = (): object => {
    const positions: [chipid: string, position: Position][] = [];
    for (const [chipid, device] of this.#devices) {
      if (typeof device.passedOn === 'function') device.passedOn = device.passedOn();
      if (device.passedOn) positions.push([chipid, device.passedOn]);
    }
    return Object.fromEntries(positions);
  };
}
