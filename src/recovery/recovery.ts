import type { Upload } from '../types';
import type { ChannelListener, ChannelState } from '../channel/types';
import { isDeviceCloudError } from '../errors';
import type { PacedAttempt } from '../pace/attempt';
import { Delivery, textOf } from './delivery';
import { Checkpoint } from './checkpoint';
import type { RecoveryDevice, RecoveryShared } from './deps';
import { UNCLEAR } from './matching/encoding';
import { interpret, type Interpretation } from './interpret';
import { isPassing, readInTurn, SILENT_TRIES } from './reading/read-history';
import type { Reader } from './reading/read-limiter';
import { Reading, type ReadingOwner } from './reading/reading';
import { reportOn } from './matching/report';
import { FIRST_TRIES, followUpDelay, INVALID_TRIES, retryDelay } from './timing';
import { weighAnswer } from './reading/weight';

/** How many answers find no room beside those of other devices before that is reported. */
const WAITING_TRIES = 3;
const WAITING =
  'recovery is waiting: the histories of other devices use all of the memory reserved for reading';

/** Recovers what the channel of one device missed. It is placed between the channel and its listener. */
export class Recovery implements ChannelListener, ReadingOwner {
  private readonly delivery: Delivery;
  private readonly reading: Reading;
  private closed = false;
  private connected = false;
  /** There was a gap, and no history has been settled since. */
  private recovering = false;
  /** How many missed uploads had been emitted when the last recovery ended. */
  private reported = 0;
  private followUps = 0;
  private unreadable = 0;
  private invalid = 0;
  /** Something unreadable has arrived since the history was requested. */
  private suspect = false;
  /** Decides when to advance the position. */
  private readonly checkpoint: Checkpoint;

  constructor(
    private readonly shared: RecoveryShared,
    private readonly device: RecoveryDevice,
  ) {
    if (device.encoding === 'auto') shared.facts.encoding ??= device.start?.encoding;
    this.delivery = new Delivery(shared, device);
    this.reading = new Reading(shared.limiter, this);
    this.checkpoint = new Checkpoint(shared.limits.arrived);
  }

  get urgency(): Reader['urgency'] {
    if (this.delivery.isHolding) return 'live';
    const { ledger, isPressed } = this.delivery;
    return ledger.isComplete && !isPressed ? 'routine' : 'soon';
  }

  /** Whether everything up to now has been emitted, so that whatever is replayed from now on was uploaded later. */
  get isComplete(): boolean {
    return this.delivery.ledger.isComplete;
  }

  onState(state: ChannelState, reason?: string): void {
    if (this.closed) return;
    this.joined(state);
    this.device.listener.onState(state, reason);
  }

  /** The channel is in this state already: the listener is not called. */
  joined(state: ChannelState): void {
    if (state === 'connected') this.onConnected();
    else if (state === 'disconnected') this.onDisconnected();
  }

  onUpload(upload: Upload): void {
    if (this.closed) return;
    this.unreadable = 0;
    if (!this.delivery.accept(upload)) this.onOverflow(upload);
    else if (!this.delivery.isHolding) this.checkLimits();
  }

  /** Something arrived that could not be read, perhaps an upload. */
  onGap(): void {
    if (this.closed) return;
    if (this.delivery.ledger.hasPosition) this.began();
    // There is a gap before whatever arrives now.
    this.delivery.ledger.gap();
    this.suspect = true;
    if (!this.reading.isDue())
      this.reading.later(followUpDelay(this.unreadable++, this.shared.random));
    this.device.listener.onGap();
  }

  onFault(fault: string, kind?: string): void {
    this.delivery.fault(fault, kind);
  }

  close(): void {
    this.closed = true;
    // This may be called during an emission, after which a reading would be started.
    this.reading.end();
    this.delivery.close();
    this.ended();
  }

  async read(signal: AbortSignal, attempt: number, turn: PacedAttempt): Promise<void> {
    const { shared, device, delivery } = this;
    const before = delivery.overflows;
    const isOver = (): boolean => signal.aborted;
    let weight = 0;
    try {
      delivery.ledger.mark();
      this.suspect = false;
      const answer = await readInTurn(shared.read, device.chipid, signal, turn);
      if (isOver()) return;
      this.invalid = 0;
      const { answers } = shared.budgets;
      // An answer that is larger than the whole budget waits until it is the only one.
      weight = Math.min(weighAnswer(answer), answers.limit);
      if (answers.reserve(weight)) await this.flushed(signal);
      else {
        weight = 0;
        if (attempt >= WAITING_TRIES) this.onFault(WAITING, 'history waits');
      }
      if (isOver()) return;
      // If uploads were dropped meanwhile, the answer may contain only some of them, and what is held came after them.
      if (delivery.overflows === before && (weight > 0 || answer.length === 0)) {
        this.settle(answer);
        return;
      }
    } catch (error) {
      if (isOver()) return;
      this.failed(error, attempt);
      if (this.invalid > 0) {
        this.reading.later(followUpDelay(attempt, shared.random), attempt + 1);
        return;
      }
    } finally {
      shared.budgets.answers.release(weight);
    }
    this.reading.later(retryDelay(attempt, delivery.isHolding, shared.random), attempt + 1);
  }

  private onConnected(): void {
    const { delivery, reading, invalid } = this;
    this.connected = true;
    this.stop();
    delivery.ledger.gap();
    if (delivery.ledger.hasPosition) this.began();
    this.followUps = 0;
    this.unreadable = 0;
    this.suspect = false;
    if (invalid >= INVALID_TRIES) {
      reading.later(followUpDelay(invalid, this.shared.random), invalid);
      return;
    }
    // Before the first reading there is nothing to recover, so nothing has to wait for it. But without it there is no
    // position from which another process could continue.
    if (delivery.ledger.hasPosition || this.device.isShared) delivery.holdBack(() => this.goLive());
    reading.start();
  }

  private onDisconnected(): void {
    // Without a position, what is held could not be recovered from the history.
    if (!this.delivery.ledger.hasPosition && this.delivery.isHolding) this.delivery.stayLive();
    if (this.delivery.ledger.hasPosition) this.stop();
    else if (this.connected && this.reading.isRunning()) {
      // It would be unknown which of the arrivals its answer contains.
      this.reading.stop();
      this.reading.later(retryDelay(0, false, this.shared.random));
    } else if (!this.reading.isDue()) {
      // Recovery starts with a first reading, even if the channel is not open yet.
      this.reading.start();
    }
    this.connected = false;
  }

  private onOverflow(upload: Upload): void {
    if (this.invalid === 0 && this.delivery.ledger.hasPosition) {
      this.delivery.overflow();
      return;
    }
    // While the history cannot be read, nothing may be left to it.
    this.goLive();
    this.onUpload(upload);
  }

  /** Waits until everything that was sent before the answer has arrived. */
  private flushed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.device.flush(resolve);
    });
  }

  private failed(error: unknown, attempt: number): void {
    const code = isDeviceCloudError(error) ? `${error.code} ${error.statusCode ?? ''}` : 'error';
    // One log line in three tries; but while all devices fail, the next try of this one may be far off.
    const isSilent = attempt % (SILENT_TRIES + 1) < SILENT_TRIES && !this.shared.limiter.isFailing;
    if (!isSilent || !isPassing(error))
      this.onFault(`uploads could not be recovered: ${textOf(error)}`, `recovery failed ${code}`);
    if (!isDeviceCloudError(error, 'INVALID_RESPONSE')) this.invalid = 0;
    // The next answer is unlikely to be better, and live uploads wait for it.
    else if (++this.invalid >= INVALID_TRIES) this.goLive();
  }

  private settle(answer: readonly unknown[]): void {
    const { delivery, device, shared, reading } = this;
    const { ledger } = delivery;
    const report = (kind: string, text: string): void => this.onFault(text, kind);
    const read = interpret(answer, ledger, shared, device, report);
    if (delivery.isHolding && !ledger.hasPosition) this.begin(read);
    const isFirst = !ledger.hasPosition;
    const insist = this.followUps >= FIRST_TRIES;
    if (!read.isClear && !(isFirst && insist)) {
      if (this.followUps === FIRST_TRIES) report('encoding unclear', UNCLEAR);
      delivery.stayLive();
      reading.later(followUpDelay(this.followUps++, shared.random));
      return;
    }
    if (read.hasBad && !insist && ledger.isRisky(read.since)) {
      reading.later(retryDelay(this.followUps++, delivery.isHolding, shared.random));
      return;
    }
    const settlement = ledger.settle(read.records, insist, read.since);
    reportOn(settlement, read.form, device.zone, shared.facts, report);
    this.checkpoint.read(read.records.length, settlement.truncated);
    delivery.emitAll(settlement.due);
    this.ended();
    this.followUp(settlement.ambiguous, isFirst);
  }

  /** Sets a first position before what is held back. */
  private begin(read: Interpretation): void {
    const { delivery } = this;
    if (delivery.ledger.begin(read.records)) {
      delivery.save();
      read.since = delivery.ledger.since(read.records);
    } else {
      delivery.stayLive();
    }
  }

  /** Reads again soon if something was left open, or was unreadable meanwhile. */
  private followUp(ambiguous: boolean, isFirst: boolean): void {
    const { random } = this.shared;
    if (!ambiguous) this.followUps = 0;
    const isUnreadable = this.suspect;
    if (isUnreadable) this.reading.later(followUpDelay(this.unreadable++, random));
    else if (ambiguous && isFirst) this.reading.later(retryDelay(this.followUps, false, random));
    else if (ambiguous) this.reading.later(followUpDelay(this.followUps, random));
    if (ambiguous) this.followUps++;
  }

  /** The history has been unavailable for too long: live uploads are emitted, missed ones will be late. */
  private goLive(): void {
    if (!this.delivery.isHolding) return;
    this.delivery.stayLive();
    this.onFault('the history could not be read in time: missed uploads will come late', 'late');
  }

  /** Reads the history before too many arrivals are remembered, and forgets them if it never answers. */
  private checkLimits(): void {
    const { checkpoint, delivery, reading } = this;
    if (delivery.isFull(checkpoint.most)) {
      delivery.forget();
      reading.stop();
      this.onFault(
        'the history could not be reached for too long; older missed uploads are lost',
        'given up',
      );
      reading.start();
    } else if (delivery.ledger.size > checkpoint.due(delivery.isPressed) && !reading.isDue())
      reading.start();
  }

  private began(): void {
    if (this.recovering) return;
    this.recovering = true;
    this.shared.observer?.onRecovering(this.device.chipid);
  }

  private ended(): void {
    const { replayed } = this.delivery;
    const count = replayed - this.reported;
    this.reported = replayed;
    // A later reading may find more, from a gap that was not noticed.
    if (count > 0) this.began();
    if (!this.recovering) return;
    this.recovering = false;
    this.shared.observer?.onRecovered(this.device.chipid, count);
  }

  private stop(): void {
    this.reading.stop();
    this.delivery.drop();
  }
}
