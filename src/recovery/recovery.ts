import { isDeviceCloudError } from '../errors';
import type { Upload } from '../channel/frames';
import { badRecord, chooseEncoding } from './encoding';
import { liveKeys } from './keys';
import type { RecoveryDevice, RecoveryShared } from './deps';
import { Ledger } from './ledger';
import type { Position } from './position';
import { Reading, type ReadingOwner } from './reading';
import { reportOn } from './report';
import { readAnswer, type HistoryForm } from './recorded';
import { FIRST_TRIES, followUpDelay, INVALID_TRIES, MAX_HOLD, retryDelay } from './timing';
import { weighAnswer, weighUpload } from './weight';

/** Gives back what the channel of one device missed; stands between the channel and who listens. */
export class Recovery implements ReadingOwner {
  private ledger: Ledger;
  private readonly reading: Reading;
  private closed = false;
  private connected = false;
  private holding = false;
  private holdTimer: NodeJS.Timeout | undefined;
  private held = 0;
  private heldBytes = 0;
  private overflows = 0;
  /** Arrivals that stand on the application's account. */
  private counted = 0;
  private followUps = 0;
  private unreadable = 0;
  private invalid = 0;
  /** Something came unreadable since the history was asked. */
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
    return this.holding;
  }

  onConnected(): void {
    if (this.closed) return;
    this.connected = true;
    this.stop();
    this.ledger.gap();
    this.followUps = 0;
    this.unreadable = 0;
    this.suspect = false;
    // Before the first reading nothing is owed, so nothing has to wait for it.
    const isHopeless = this.invalid >= INVALID_TRIES;
    this.holding = this.ledger.hasPosition && !isHopeless;
    if (this.holding) this.holdTimer = setTimeout(() => this.goLive(), MAX_HOLD);
    if (isHopeless)
      this.reading.later(followUpDelay(this.invalid, this.shared.random), this.invalid);
    else this.reading.start();
  }

  onDisconnected(): void {
    if (this.closed) return;
    if (this.ledger.hasPosition) this.stop();
    else if (this.connected && this.reading.isRunning()) {
      // Which of the arrivals its answer has could not be told any more.
      this.reading.stop();
      this.reading.later(retryDelay(0, false, this.shared.random));
    } else if (!this.reading.isDue()) {
      // What is owed begins with a first reading, even if the channel takes its time.
      this.reading.start();
    }
    this.connected = false;
  }

  onUpload(upload: Upload): void {
    if (this.closed) return;
    this.unreadable = 0;
    if (this.holding) this.hold(upload);
    else {
      // Before anybody may change them.
      const { text, bytes } = liveKeys(upload.body);
      this.emit(upload);
      this.ledger.add(text, upload.timestamp, undefined, bytes);
      this.save();
      this.checkLimits();
    }
  }

  /** Something came that could not be read, perhaps an upload. */
  onGap(): void {
    if (this.closed) return;
    // What arrives now follows after a gap.
    this.ledger.gap();
    this.suspect = true;
    if (!this.reading.isDue())
      this.reading.later(followUpDelay(this.unreadable++, this.shared.random));
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
      if (shared.accounts.answers.reserve(weight)) await this.passed(signal);
      else weight = 0;
      if (isOver()) return;
      // Of what did not fit, the answer may have a part only: what is held is later than the rest.
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
    this.reading.later(retryDelay(attempt, this.holding, shared.random), attempt + 1);
  }

  /** Waits until all has arrived that was sent before the answer. */
  private passed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.device.flush(resolve);
    });
  }

  private failed(error: unknown): void {
    const code = isDeviceCloudError(error) ? `${error.code} ${error.statusCode ?? ''}` : 'error';
    this.fault(`uploads could not be recovered: ${textOf(error)}`, `recovery failed ${code}`);
    if (!isDeviceCloudError(error, 'INVALID_RESPONSE')) {
      this.invalid = 0;
      return;
    }
    // Such a history does not mend itself soon, and live uploads wait for it.
    if (++this.invalid >= INVALID_TRIES && this.holding) this.goLive();
  }

  private settle(answer: readonly unknown[]): void {
    const { ledger, device, shared } = this;
    const { appid, facts, random } = shared;
    const zone = facts.zone ?? device.zone;
    const form: HistoryForm = {
      ...{ appid, chipid: device.chipid, encoding: 'text', certain: false, zone },
      now: shared.now(),
    };
    const read = readAnswer(answer, form);
    for (const fault of read.faults) this.fault(badRecord(fault), `bad record: ${fault}`);
    const tell = (kind: string, text: string): void => this.fault(text, kind);
    const isClear = chooseEncoding(read, form, {
      ...{ setting: device.encoding, facts, ledger, tell },
    });
    const isFirst = !ledger.hasPosition;
    const insist = this.followUps >= FIRST_TRIES;
    if (!isClear && !(isFirst && insist)) {
      this.stayLive();
      this.reading.later(followUpDelay(this.followUps++, random));
      return;
    }
    if (read.faults.size > 0 && !insist && ledger.isRisky(read.records)) {
      this.reading.later(retryDelay(this.followUps++, this.holding, random));
      return;
    }
    const settlement = ledger.settle(read.records, insist);
    reportOn(settlement, form, device.zone, facts, tell);
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

  private hold(upload: Upload): void {
    const { limits, accounts } = this.shared;
    const weight = weighUpload(upload);
    const fits = this.held < limits.held && this.heldBytes + weight <= limits.heldBytes;
    if (!fits || !accounts.held.reserve(weight)) {
      // Left to the history, with all that is held: a reading asked from now on has them.
      this.overflows++;
      this.ledger.drop();
      this.ledger.gap();
      this.giveBack();
      return;
    }
    this.held++;
    this.heldBytes += weight;
    const { text, bytes } = liveKeys(upload.body);
    this.ledger.add(text, upload.timestamp, upload, bytes);
  }

  /** The history is out of reach for too long: live uploads go on, missed ones come late. */
  private goLive(): void {
    if (!this.holding) return;
    this.stayLive();
    this.fault('the history could not be read in time: missed uploads will come late', 'late');
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
      this.fault('the history was out of reach for too long: older missed uploads are given up', 'given up'); // prettier-ignore
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
    this.holding = false;
    this.giveBack();
    clearTimeout(this.holdTimer);
    this.holdTimer = undefined;
  }

  private giveBack(): void {
    this.shared.accounts.held.release(this.heldBytes);
    this.held = 0;
    this.heldBytes = 0;
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
      this.fault(`the position could not be saved: ${textOf(error)}`, 'not saved');
    }
  }

  /** One upload that its user fails at must not take the others with it. */
  private emit(upload: Upload): void {
    if (this.closed) return;
    try {
      this.device.emit(upload);
    } catch (error) {
      this.fault(`an upload could not be handed on: ${textOf(error)}`, 'not handed on');
    }
  }

  private fault(text: string, kind: string): void {
    if (this.closed) return;
    try {
      this.device.fault(text, kind);
    } catch {
      // Whoever fails at being told of a fault cannot be told of that, either.
    }
  }
}

const textOf = (error: unknown): string =>
  isDeviceCloudError(error) ? error.message : String(error);
