import { arrivalKeys, FORMS, savedKey, type BodyKeys } from '../history/form';
import { HistoryRecord } from '../history/record';
import { isDeviceCloudError } from '../errors';
import type { Upload } from '../types';
import { catchRejection, thrownText } from '../util/thrown';
import { OVERHEAD } from './answer';
import type { RecoveryDevice, RecoveryShared } from './options';
import { MAX_HOLD } from './reading';
import { Progress } from './position';

/** A thrown value as text, for a fault. */
export const textOf = (error: unknown): string =>
  isDeviceCloudError(error) ? error.message : thrownText(error);

/** For how long an upload may be announced after it was recovered, in ms. */
const ANNOUNCED_WITHIN = 5000;
/** How many of the newest that were recovered are remembered: a late announcement is one of these. */
export const MOST_RECENT = 100;

/** Roughly the bytes of memory that an upload needs. */
const weighUpload = ({ body }: Upload): number => body.length + OVERHEAD;

/** An upload to be emitted: it was missed, or held back. */
export type Due = HistoryRecord | Upload;

/** What happens to a live upload: it is emitted, held back, or does not fit into what may be held back. */
type Accepted = 'emitted' | 'held' | 'overflow';

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
  progress: Progress;
  /** The last text of the device that came both ways was in the history as it was. */
  isPlain: boolean;
  #holdTimer: NodeJS.Timeout | undefined;
  #heldCount = 0;
  #heldBytes = 0;
  #closed = false;
  /** Arrivals of this device that are counted in the application's budget. */
  #counted = 0;
  /** How often each of the bodies occurs that were recovered last, by its saved key: a hash keeps no text in memory. */
  #recent: Map<string, number> | undefined;
  #recentUntil = 0;
  readonly #shared: RecoveryShared;
  readonly #device: RecoveryDevice;

  constructor(shared: RecoveryShared, device: RecoveryDevice) {
    this.#shared = shared;
    this.#device = device;
    this.progress = new Progress(device.start);
    this.isPlain = device.start?.form === 'text';
  }

  /** Whether live uploads are held back. */
  get isHolding(): boolean {
    return this.#holdTimer !== undefined;
  }

  /** Holds back what arrives from now on. @param expired is called if that lasts too long */
  holdBack(expired: () => void): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = setTimeout(expired, MAX_HOLD);
  }

  /**
   * Accepts a live upload.
   * @param doubted is called if it may be the late announcement of an upload that was recovered a moment ago: then
   *   what arrives has to be held back until the history has shown it
   */
  accept(upload: Upload, doubted: () => void): Accepted {
    // No history keeps what comes in the transparent serial mode, so nothing has to be waited for, nor remembered.
    if (upload.type !== undefined) {
      this.#emit(upload);
      return 'emitted';
    }
    // Before the listener is called, which may change the bytes.
    const keys = arrivalKeys(upload.body);
    const isDoubtful = this.#recent !== undefined && this.#wasRecovered(keys);
    if (isDoubtful && !this.isHolding) doubted();
    if (this.isHolding) {
      if (!this.#hold(upload)) return 'overflow';
      this.progress.arrivals.add(keys, upload.timestamp, upload, isDoubtful);
      return 'held';
    }
    this.#emit(upload);
    this.progress.arrivals.add(keys, upload.timestamp);
    this.#count();
    this.save();
    return 'emitted';
  }

  /** Drops what is held back: the next reading of the history contains it. */
  overflow(): void {
    this.overflows++;
    this.progress.drop();
    this.progress.gap();
    this.#clearHold();
  }

  /**
   * Emits what is held back without waiting for the history any longer.
   * @returns whether something was in doubt, which is left to the history: it has to be read once more
   */
  stayLive(): boolean {
    this.#endHold();
    const { arrivals } = this.progress;
    const before = arrivals.size;
    const held = arrivals.release();
    const isLeft = arrivals.size < before;
    if (isLeft) this.progress.gap();
    for (const upload of held) this.#emit(upload);
    this.#count();
    this.save();
    return isLeft;
  }

  /** Emits what a reading has shown, in order: missed uploads, made from their records, and what was held back. */
  emitAll(due: readonly Due[], uploadOf: (record: HistoryRecord) => Upload): void {
    for (const [index, each] of due.entries())
      if (each instanceof HistoryRecord)
        this.#replay(uploadOf(each), !(due[index + 1] instanceof HistoryRecord));
      else this.#emit(each);
    this.#count();
    this.save();
  }

  /** Drops what is held back, since the history contains it. */
  drop(): void {
    this.progress.drop();
    this.#endHold();
  }

  /** Nothing arrives any more: what is held back waits for the next connection, without a limit of time. */
  pause(): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
  }

  /** Remembers what was recovered: some services announce an upload only after it is in the history. */
  remember(keys: readonly string[]): void {
    const now = performance.now();
    if (now >= this.#recentUntil) this.#recent = undefined;
    if (keys.length === 0) return;
    const recent = (this.#recent ??= new Map<string, number>());
    for (const key of keys.map(savedKey)) recent.set(key, (recent.get(key) ?? 0) + 1);
    while (recent.size > MOST_RECENT) recent.delete(recent.keys().next().value as string);
    this.#recentUntil = now + ANNOUNCED_WITHIN;
  }

  /** Whether all devices together remember more than half as many arrivals as they may. */
  get isPressed(): boolean {
    const { used, limit } = this.#shared.budgets.arrived;
    return used > limit / 2;
  }

  /** Whether the device, or all devices together, remember too many arrivals. */
  isFull(checkpoint: number): boolean {
    const { limits, budgets } = this.#shared;
    const { size } = this.progress.arrivals;
    const isShort = budgets.arrived.used > budgets.arrived.limit;
    return size > limits.forgotten || (isShort && size > checkpoint);
  }

  /** Forgets everything, the position too. */
  forget(): void {
    this.progress = new Progress();
    this.#count();
  }

  fault(text: string, kind?: string): void {
    if (!this.#closed) this.#device.listener.onFault(text, kind);
  }

  close(): void {
    this.#closed = true;
    this.drop();
    this.#count();
  }

  /** Passes the position on, if there is one. */
  save(): void {
    const device = this.#device;
    if (!device.saves || this.#closed) return;
    const { form, zone, isWhole } = this.#shared.facts;
    const isShown = form !== 'text' || isWhole || this.isPlain;
    const position = this.progress.position(
      isShown ? form : undefined,
      device.zone === undefined ? zone : undefined,
    );
    if (!position) return;
    try {
      catchRejection(device.save(position), (error) => this.#notSaved(error));
    } catch (error) {
      this.#notSaved(error);
    }
  }

  #emit(upload: Upload): void {
    if (!this.#closed) this.#device.listener.onUpload(upload);
  }

  /** @param isLast whether no other follows: the observer sees only the last of many missed uploads */
  #replay(upload: Upload, isLast: boolean): void {
    if (this.#closed) return;
    this.replayed++;
    if (isLast) this.#shared.observer.onReplayed(upload);
    this.#emit(upload);
  }

  /** @returns false if it exceeds a limit of the device or of the application */
  #hold(upload: Upload): boolean {
    const { limits, budgets } = this.#shared;
    const weight = weighUpload(upload);
    const fits = this.#heldCount < limits.held && this.#heldBytes + weight <= limits.heldBytes;
    if (!fits || !budgets.held.reserve(weight)) return false;
    this.#heldCount++;
    this.#heldBytes += weight;
    return true;
  }

  #clearHold(): void {
    this.#shared.budgets.held.release(this.#heldBytes);
    this.#heldCount = 0;
    this.#heldBytes = 0;
  }

  #endHold(): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
    this.#clearHold();
  }

  #wasRecovered(keys: BodyKeys): boolean {
    const recent = this.#recent;
    if (!recent || performance.now() >= this.#recentUntil) {
      this.#recent = undefined;
      return false;
    }
    const form = FORMS.find((each) => recent.has(savedKey(keys[each])));
    if (!form) return false;
    const key = savedKey(keys[form]);
    const left = (recent.get(key) ?? 0) - 1;
    if (left > 0) recent.set(key, left);
    else recent.delete(key);
    return true;
  }

  /** Updates the application's budget. */
  #count(): void {
    const size = this.#closed ? 0 : this.progress.arrivals.size;
    this.#shared.budgets.arrived.used += size - this.#counted;
    this.#counted = size;
  }

  #notSaved(error: unknown): void {
    this.fault(`the position could not be saved: ${textOf(error)}`, 'not saved');
  }
}
