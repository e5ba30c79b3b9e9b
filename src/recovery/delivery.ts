import type { Upload } from '../types';
import { isDeviceCloudError } from '../errors';
import type { RecoveryDevice, RecoveryShared } from './deps';
import { catchRejection, thrownText } from '../util/thrown';
import { Hold } from './hold';
import { liveKeys } from './records/keys';
import { Ledger } from './matching/ledger';
import type { Position } from './position/position';
import type { Due } from './records/recorded';

/** A thrown value as text, for a fault. */
export const textOf = (error: unknown): string =>
  isDeviceCloudError(error) ? error.message : thrownText(error);

/**
 * Passes the uploads of one device to its listener: live ones at once, or after the history has been read. What was
 * passed on is remembered, within limits, and saved.
 */
export class Delivery {
  /** How often an upload did not fit into what is held back. */
  overflows = 0;
  /** The number of missed uploads that it has emitted. */
  replayed = 0;
  /** Replaced when everything is forgotten. */
  ledger: Ledger;
  private hold: Hold | undefined;
  private closed = false;
  /** Arrivals of this device that are counted in the application's budget. */
  private counted = 0;

  constructor(
    private readonly shared: RecoveryShared,
    private readonly device: RecoveryDevice,
  ) {
    this.ledger = this.newLedger(device.start);
  }

  /** Whether live uploads are held back. */
  get isHolding(): boolean {
    return this.hold !== undefined;
  }

  /** Holds back what arrives from now on. @param expired is called if that lasts too long */
  holdBack(expired: () => void): void {
    const { limits, budgets } = this.shared;
    this.hold = new Hold(limits, budgets.held, expired);
  }

  /** Accepts a live upload. @returns false if it has to be held back and does not fit */
  accept(upload: Upload): boolean {
    // Before the listener is called, which may change the bytes.
    const { text, bytes } = liveKeys(upload.body);
    if (this.hold) {
      if (!this.hold.add(upload)) return false;
      this.ledger.add(text, upload.timestamp, upload, bytes);
      return true;
    }
    this.emit(upload);
    this.ledger.add(text, upload.timestamp, undefined, bytes);
    this.count();
    this.save();
    return true;
  }

  /** Drops what is held back: the next reading of the history contains it. */
  overflow(): void {
    this.overflows++;
    this.ledger.drop();
    this.ledger.gap();
    this.hold?.clear();
  }

  /** Emits what is held back without waiting for the history any longer. */
  stayLive(): void {
    this.endHold();
    for (const upload of this.ledger.release()) this.emit(upload);
    this.count();
    this.save();
  }

  /** Emits the results of a reading in order. Each upload is created just before it is emitted. */
  emitAll(due: readonly Due[]): void {
    this.endHold();
    let next = due[0]?.upload();
    for (let index = 1; next; index++) {
      const upload = next;
      next = due[index]?.upload();
      this.emit(upload, next);
    }
    this.count();
    this.save();
  }

  /** Drops what is held back, since the history contains it. */
  drop(): void {
    this.ledger.drop();
    this.endHold();
  }

  /** Whether all devices together remember more than half as many arrivals as they may. */
  get isPressed(): boolean {
    const { used, limit } = this.shared.budgets.arrived;
    return used > limit / 2;
  }

  /** Whether the device, or all devices together, remember too many arrivals. */
  isFull(checkpoint: number): boolean {
    const { limits, budgets } = this.shared;
    const { size } = this.ledger;
    const isShort = budgets.arrived.used > budgets.arrived.limit;
    return size > limits.forgotten || (isShort && size > checkpoint);
  }

  /** Forgets everything, the position too. */
  forget(): void {
    this.ledger = this.newLedger();
    this.count();
  }

  fault(text: string, kind?: string): void {
    if (!this.closed) this.device.listener.onFault(text, kind);
  }

  close(): void {
    this.closed = true;
    this.drop();
    this.count();
  }

  private newLedger(start?: Position): Ledger {
    const { encoding } = this.device;
    const known = this.shared.facts.encoding ?? (encoding === 'auto' ? 'text' : encoding);
    return new Ledger(start, known);
  }

  /** @param next what is emitted right after it: the observer sees only the last of many missed uploads */
  private emit(upload: Upload, next?: Upload): void {
    if (this.closed) return;
    if (upload.replayed) {
      this.replayed++;
      if (!next?.replayed) this.shared.observer?.onReplayed(upload);
    }
    this.device.listener.onUpload(upload);
  }

  /** Updates the application's budget. */
  private count(): void {
    const size = this.closed ? 0 : this.ledger.size;
    this.shared.budgets.arrived.used += size - this.counted;
    this.counted = size;
  }

  private endHold(): void {
    this.hold?.end();
    this.hold = undefined;
  }

  /** Passes the position on, if there is one. */
  save(): void {
    const { device } = this;
    if (!device.saves || this.closed) return;
    const position = this.ledger.position();
    if (!position) return;
    const { encoding } = this.shared.facts;
    if (encoding && device.encoding === 'auto') position.encoding = encoding;
    try {
      catchRejection(device.save(position), (error) => this.notSaved(error));
    } catch (error) {
      this.notSaved(error);
    }
  }

  private notSaved(error: unknown): void {
    this.fault(`the position could not be saved: ${textOf(error)}`, 'not saved');
  }
}
