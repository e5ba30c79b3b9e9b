import type { Upload } from '../channel/frames';
import type { ChannelListener, ChannelState } from '../channel/types';
import { isDeviceCloudError } from '../errors';
import type { RecoveryDevice, RecoveryShared } from './deps';
import { UNCLEAR } from './encoding';
import { Hold } from './hold';
import { interpret } from './interpret';
import { liveKeys } from './keys';
import { Ledger } from './ledger';
import type { Position } from './position';
import { Reading, type ReadingOwner } from './reading';
import { reportOn } from './report';
import { FIRST_TRIES, followUpDelay, INVALID_TRIES, retryDelay } from './timing';
import { weighAnswer } from './weight';

/** Gives back what the channel of one device missed; stands between the channel and its listener. */
export class Recovery implements ChannelListener, ReadingOwner {
  private ledger: Ledger;
  private readonly reading: Reading;
  private closed = false;
  private connected = false;
  /** Set while live uploads are held back, since missed ones come before them. */
  private hold: Hold | undefined;
  /** How often uploads did not fit into it. */
  private overflows = 0;
  /** Arrivals that the application's account has of this device. */
  private counted = 0;
  private followUps = 0;
  private unreadable = 0;
  private invalid = 0;
  /** Something unreadable has come since the history was asked. */
  private suspect = false;
  /** Arrivals after which the position is moved on: fewer if the history does not reach back far. */
  private checkpoint: number;

  constructor(
    private readonly shared: RecoveryShared,
    private readonly device: RecoveryDevice,
  ) {
    if (device.encoding === 'auto') shared.facts.encoding ??= device.start?.encoding;
    this.ledger = this.newLedger(device.start);
    this.reading = new Reading(shared.turns, this);
    this.checkpoint = shared.limits.arrived;
  }

  get urgent(): boolean {
    return this.hold !== undefined;
  }

  onState(state: ChannelState, reason?: string): void {
    if (this.closed) return;
    this.joined(state);
    this.device.listener.onState(state, reason);
  }

  /** The channel is in this state already, which the listener need not hear. */
  joined(state: ChannelState): void {
    if (state === 'connected') this.onConnected();
    else if (state === 'disconnected') this.onDisconnected();
  }

  onUpload(upload: Upload): void {
    if (this.closed) return;
    this.unreadable = 0;
    if (this.hold) {
      this.holdBack(this.hold, upload);
      return;
    }
    // Before anybody may change them.
    const { text, bytes } = liveKeys(upload.body);
    this.emit(upload);
    this.ledger.add(text, upload.timestamp, undefined, bytes);
    this.save();
    this.checkLimits();
  }

  /** Something came that could not be read, perhaps an upload. */
  onGap(): void {
    if (this.closed) return;
    // What arrives now follows after a gap.
    this.ledger.gap();
    this.suspect = true;
    if (!this.reading.isDue())
      this.reading.later(followUpDelay(this.unreadable++, this.shared.random));
    this.device.listener.onGap();
  }

  onFault(fault: string, kind?: string): void {
    if (!this.closed) this.device.listener.onFault(fault, kind);
  }

  close(): void {
    this.closed = true;
    // Perhaps out of the middle of an emission, after which a reading would be due.
    this.reading.end();
    this.stop();
    this.shared.accounts.arrived.release(this.counted);
    this.counted = 0;
  }

  async read(signal: AbortSignal, attempt: number, answered: () => void): Promise<void> {
    const { shared, device } = this;
    const before = this.overflows;
    const isOver = (): boolean => signal.aborted;
    let weight = 0;
    try {
      this.ledger.mark();
      this.suspect = false;
      const answer = await shared.read(device.chipid, signal);
      if (isOver()) return;
      answered();
      this.invalid = 0;
      weight = weighAnswer(answer);
      if (shared.accounts.answers.reserve(weight)) await this.flushed(signal);
      else weight = 0;
      if (isOver()) return;
      // Of uploads that were dropped the answer may have only a part: what is held came after them.
      if (this.overflows === before && (weight > 0 || answer.length === 0)) {
        this.settle(answer);
        return;
      }
    } catch (error) {
      if (isOver()) return;
      this.failed(error);
      if (this.invalid > 0) {
        this.reading.later(followUpDelay(attempt, shared.random), attempt + 1);
        return;
      }
    } finally {
      shared.accounts.answers.release(weight);
    }
    this.reading.later(retryDelay(attempt, this.urgent, shared.random), attempt + 1);
  }

  private onConnected(): void {
    this.connected = true;
    this.stop();
    this.ledger.gap();
    this.followUps = 0;
    this.unreadable = 0;
    this.suspect = false;
    const isHopeless = this.invalid >= INVALID_TRIES;
    // Before the first reading there is nothing to recover, so nothing has to wait for it.
    if (this.ledger.hasPosition && !isHopeless) {
      const { limits, accounts } = this.shared;
      this.hold = new Hold(limits, accounts.held, () => this.goLive());
    }
    if (isHopeless)
      this.reading.later(followUpDelay(this.invalid, this.shared.random), this.invalid);
    else this.reading.start();
  }

  private onDisconnected(): void {
    if (this.ledger.hasPosition) this.stop();
    else if (this.connected && this.reading.isRunning()) {
      // Which of the arrivals its answer has could not be told any more.
      this.reading.stop();
      this.reading.later(retryDelay(0, false, this.shared.random));
    } else if (!this.reading.isDue()) {
      // Recovery begins with a first reading, even if the channel takes its time.
      this.reading.start();
    }
    this.connected = false;
  }

  /** Waits until everything has arrived that was sent before the answer. */
  private flushed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.device.flush(resolve);
    });
  }

  private failed(error: unknown): void {
    const code = isDeviceCloudError(error) ? `${error.code} ${error.statusCode ?? ''}` : 'error';
    this.onFault(`uploads could not be recovered: ${textOf(error)}`, `recovery failed ${code}`);
    if (!isDeviceCloudError(error, 'INVALID_RESPONSE')) this.invalid = 0;
    // The next answer will hardly be a better one, and live uploads wait for it.
    else if (++this.invalid >= INVALID_TRIES) this.goLive();
  }

  private settle(answer: readonly unknown[]): void {
    const { ledger, device, shared, reading } = this;
    const { facts, random } = shared;
    const tell = (kind: string, text: string): void => this.onFault(text, kind);
    const read = interpret(answer, ledger, shared, device, tell);
    const isFirst = !ledger.hasPosition;
    const insist = this.followUps >= FIRST_TRIES;
    if (!read.isClear && !(isFirst && insist)) {
      if (this.followUps === FIRST_TRIES) tell('encoding unclear', UNCLEAR);
      this.stayLive();
      reading.later(followUpDelay(this.followUps++, random));
      return;
    }
    if (read.hasBad && !insist && ledger.isRisky(read.since)) {
      reading.later(retryDelay(this.followUps++, this.urgent, random));
      return;
    }
    const settlement = ledger.settle(read.records, insist, read.since);
    reportOn(settlement, read.form, device.zone, facts, tell);
    if (settlement.truncated)
      this.checkpoint = Math.min(this.checkpoint, Math.ceil(read.records.length / 2));
    this.letGo();
    for (const upload of settlement.due) this.emit(upload());
    this.count();
    this.save();
    this.followUp(settlement.ambiguous, isFirst);
  }

  /** Looks again soon if something was left open, or came unreadable meanwhile. */
  private followUp(ambiguous: boolean, isFirst: boolean): void {
    const { random } = this.shared;
    if (!ambiguous) this.followUps = 0;
    const isUnreadable = this.suspect;
    if (isUnreadable) this.reading.later(followUpDelay(this.unreadable++, random));
    else if (ambiguous && isFirst) this.reading.later(retryDelay(this.followUps, false, random));
    else if (ambiguous) this.reading.later(followUpDelay(this.followUps, random));
    if (ambiguous) this.followUps++;
  }

  private holdBack(hold: Hold, upload: Upload): void {
    const { text, bytes } = liveKeys(upload.body);
    if (hold.add(upload)) {
      this.ledger.add(text, upload.timestamp, upload, bytes);
      return;
    }
    if (this.invalid > 0) {
      // A history that could not be read may never give back what is dropped here.
      this.goLive();
      this.onUpload(upload);
      return;
    }
    // Left to the history, with all that is held: a reading that starts from now on has them.
    this.overflows++;
    this.ledger.drop();
    this.ledger.gap();
    hold.clear();
  }

  /** The history is out of reach for too long: live uploads go on, missed ones come late. */
  private goLive(): void {
    if (!this.hold) return;
    this.stayLive();
    this.onFault('the history could not be read in time: missed uploads will come late', 'late');
  }

  private stayLive(): void {
    this.letGo();
    for (const upload of this.ledger.release()) this.emit(upload);
    this.count();
    this.save();
  }

  /** Keeps what is remembered within bounds. */
  private checkLimits(): void {
    const { limits, accounts } = this.shared;
    this.count();
    const { size } = this.ledger;
    const isFull = accounts.arrived.used > accounts.arrived.limit && size > this.checkpoint;
    if (size > limits.forgotten || isFull) {
      this.ledger = this.newLedger();
      this.count();
      this.reading.stop();
      this.onFault('the history was out of reach for too long: older missed uploads are given up', 'given up'); // prettier-ignore
      this.reading.start();
    } else if (size > this.checkpoint && !this.reading.isDue()) this.reading.start();
  }

  private newLedger(start?: Position): Ledger {
    const { encoding } = this.device;
    const known = this.shared.facts.encoding ?? (encoding === 'auto' ? 'text' : encoding);
    return new Ledger(start, known);
  }

  /** Brings the application's account up to date. */
  private count(): void {
    const size = this.closed ? 0 : this.ledger.size;
    this.shared.accounts.arrived.used += size - this.counted;
    this.counted = size;
  }

  private letGo(): void {
    this.hold?.end();
    this.hold = undefined;
  }

  private stop(): void {
    this.reading.stop();
    this.ledger.drop();
    this.letGo();
  }

  private save(): void {
    const { device } = this;
    if (!device.saves || this.closed) return;
    const position = this.ledger.position();
    if (!position) return;
    const { encoding } = this.shared.facts;
    if (encoding && device.encoding === 'auto') position.encoding = encoding;
    try {
      device.save(position);
    } catch (error) {
      this.onFault(`the position could not be saved: ${textOf(error)}`, 'not saved');
    }
  }

  private emit(upload: Upload): void {
    if (!this.closed) this.device.listener.onUpload(upload);
  }
}

const textOf = (error: unknown): string =>
  isDeviceCloudError(error) ? error.message : String(error);
