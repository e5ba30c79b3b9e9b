import type { ChannelListener, ChannelState } from '../channel/listener';
import { isDeviceCloudError } from '../errors';
import type { HistoryTurn } from '../history/record-reader';
import type { Upload } from '../types';
import { HistoryAnswer } from './answer';
import { Checkpoint } from './position';
import { Delivery, textOf } from './delivery';
import type { RecoveryDevice, RecoveryShared } from './options';
import type { RecordSink } from '../history/record-reader';
import {
  followUpDelay,
  isPassing,
  Reading,
  retryDelay,
  SILENT_TRIES,
  type ReadingOwner,
} from './reading';
import { FIRST_TRIES, Settling, WAITING } from './settling';

/** After this many failed readings in a row, live uploads no longer wait for the history of a device. */
const FAILED_TRIES = 5;
/** After this many invalid answers: the next one is unlikely to be better. */
const INVALID_TRIES = 2;
/** How many answers find no room beside those of other devices before that is reported. */
const WAITING_TRIES = 3;
/** Milliseconds until an upload that may have been announced late is looked up in the history. */
const DOUBT_DELAY = 250;
/** Milliseconds in which a history that is not understood after {@link FIRST_TRIES} readings is read again, at most. */
const LATER = 10 * 60_000;

/** Recovers what the channel of one device missed. It is placed between the channel and its listener. */
export class Recovery implements ChannelListener, ReadingOwner {
  readonly #shared: RecoveryShared;
  readonly #device: RecoveryDevice;
  readonly #delivery: Delivery;
  readonly #settling: Settling;
  readonly #reading: Reading;
  /** Decides when to advance the position. */
  readonly #checkpoint: Checkpoint;
  #closed = false;
  #connected = false;
  /** There was a gap, and no history has been settled since. */
  #recovering = false;
  /** How many missed uploads had been emitted when the last recovery ended. */
  #reported = 0;
  #followUps = 0;
  #unreadable = 0;
  /** Invalid answers of the history in a row, and failed readings of any kind. */
  #invalid = 0;
  #failures = 0;
  /** The failure that was reported last; undefined once a reading has succeeded. */
  #reportedFailure: string | undefined;
  /** Something unreadable has arrived since the history was requested. */
  #suspect = false;

  constructor(shared: RecoveryShared, device: RecoveryDevice) {
    this.#shared = shared;
    this.#device = device;
    shared.facts.restore(
      device.start?.form,
      device.zone === undefined ? device.start?.zone : undefined,
    );
    this.#delivery = new Delivery(shared, device);
    this.#settling = new Settling(shared, device, this.#delivery);
    this.#reading = new Reading(shared.limiter, this);
    this.#checkpoint = new Checkpoint(shared.limits.arrived);
  }

  /** Whether everything up to now has been emitted, so that whatever is replayed from now on was uploaded later. */
  get isComplete(): boolean {
    return this.#delivery.progress.isComplete;
  }

  onState(state: ChannelState, reason?: string): void {
    if (this.#closed) return;
    this.joined(state);
    this.#device.listener.onState(state, reason);
  }

  /** The channel is in this state already: the listener is not called. */
  joined(state: ChannelState): void {
    if (state === 'connected') this.#onConnected();
    else if (state === 'disconnected') this.#onDisconnected();
  }

  onUpload(upload: Upload): void {
    if (this.#closed) return;
    this.#unreadable = 0;
    const accepted = this.#delivery.accept(upload, () => this.#doubt());
    if (accepted === 'overflow') this.#onOverflow(upload);
    else if (accepted === 'emitted') this.#checkLimits();
  }

  /** Something arrived that could not be read, perhaps an upload. */
  onGap(): void {
    if (this.#closed) return;
    const { progress } = this.#delivery;
    if (progress.hasPosition) this.#began();
    // Without a position, what has arrived only shows what a first answer ends with.
    else if (!this.#delivery.isHolding) progress.arrivals.clear();
    // There is a gap before whatever arrives now.
    progress.gap();
    this.#suspect = true;
    if (!this.#reading.isDue())
      this.#reading.later(followUpDelay(this.#unreadable++, this.#shared.random));
    this.#device.listener.onGap();
  }

  onFault(fault: string, kind?: string): void {
    this.#delivery.fault(fault, kind);
  }

  close(): void {
    this.#closed = true;
    // This may be called during an emission, after which a reading would be started.
    this.#reading.end();
    this.#delivery.close();
    this.#ended();
  }

  async read(signal: AbortSignal, attempt: number, turn: HistoryTurn): Promise<void> {
    const delivery = this.#delivery;
    const before = delivery.overflows;
    let answer: HistoryAnswer | undefined;
    const isOver = (): boolean => signal.aborted;
    try {
      delivery.progress.arrivals.mark();
      this.#suspect = false;
      answer = await this.#readAnswer(signal, turn);
      if (isOver()) return;
      this.#invalid = 0;
      this.#failures = 0;
      this.#reportedFailure = undefined;
      const isWaiting = answer.cutAt !== undefined && answer.since().fresh.length === 0;
      if (isWaiting) {
        if (attempt >= WAITING_TRIES) this.onFault(WAITING, 'history waits');
      } else {
        await this.#flushed(signal);
        if (isOver()) return;
        // If uploads were dropped meanwhile, the answer may contain only some of them, and what is held came after them.
        if (delivery.overflows === before) {
          await this.#settle(answer, signal);
          return;
        }
      }
    } catch (error) {
      if (isOver()) return;
      this.#failed(error, attempt);
      if (this.#invalid > 0) {
        this.#reading.later(followUpDelay(attempt, this.#shared.random), attempt + 1);
        return;
      }
    } finally {
      answer?.release();
    }
    this.#reading.later(retryDelay(attempt, delivery.isHolding, this.#shared.random), attempt + 1);
  }

  /** @throws DeviceCloudError */
  async #readAnswer(signal: AbortSignal, turn: HistoryTurn): Promise<HistoryAnswer> {
    const { appid, read, budgets, now } = this.#shared;
    const { chipid } = this.#device;
    const { progress } = this.#delivery;
    const { id, edge, measure, arrivals } = progress;
    const origin = { appid, chipid, zone: this.#settling.zone, now: now() };
    const known = id === undefined ? undefined : { id, edge, measure };
    // Those that arrive while a first history is read may be in it, too.
    const expected = (): number => (known ? progress.skip + arrivals.expected : arrivals.size);
    let answer = new HistoryAnswer(origin, known, expected, budgets.answers, false);
    const take: RecordSink = (record, size, length) => answer.take(record, size, length);
    try {
      const { isWhole } = await read(chipid, signal, take, turn);
      if (!isWhole && known && !answer.isComplete) this.#settling.reportEnded();
      if (answer.needsAll && !signal.aborted) {
        answer.release();
        answer = new HistoryAnswer(origin, known, expected, budgets.answers, true);
        await read(chipid, signal, take);
      }
      answer.end();
      return answer;
    } catch (error) {
      answer.release();
      throw error;
    }
  }

  #onConnected(): void {
    const delivery = this.#delivery;
    const { progress } = delivery;
    this.#connected = true;
    this.#stop();
    progress.gap();
    if (progress.hasPosition) this.#began();
    this.#followUps = 0;
    this.#unreadable = 0;
    this.#suspect = false;
    // Nothing waits for a history that always fails: on the public server of 2016, one binary upload has that effect.
    if (this.#isHopeless) {
      delivery.stayLive();
      this.#reading.later(followUpDelay(this.#failures, this.#shared.random), this.#failures);
      return;
    }
    // Before the first reading there is nothing to recover, so nothing has to wait for it.
    if (progress.hasPosition) delivery.holdBack(() => this.#expired());
    this.#reading.start();
  }

  #onDisconnected(): void {
    const delivery = this.#delivery;
    if (delivery.progress.hasPosition) this.#stop();
    else {
      // What is held could not be recovered from the history.
      delivery.stayLive();
      delivery.progress.arrivals.clear();
      if (this.#connected && this.#reading.isRunning()) {
        // It would be unknown which of the arrivals its answer contains.
        this.#reading.stop();
        this.#reading.later(retryDelay(0, false, this.#shared.random));
      } else if (!this.#reading.isDue()) {
        // Recovery starts with a first reading, even if the channel is not open yet.
        this.#reading.start();
      }
    }
    this.#connected = false;
  }

  /** An upload may be the late announcement of a recovered one: the history shows which. */
  #doubt(): void {
    if (!this.#delivery.progress.hasPosition) return;
    this.#delivery.holdBack(() => this.#expired());
    this.#reading.soon(DOUBT_DELAY);
  }

  #onOverflow(upload: Upload): void {
    if (!this.#isHopeless && this.#invalid === 0 && this.#delivery.progress.hasPosition) {
      this.#delivery.overflow();
      return;
    }
    // While the history cannot be read, nothing may be left to it.
    this.#goLive();
    this.onUpload(upload);
  }

  /** Waits until everything that was sent before the answer has arrived. */
  #flushed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.#device.flush(resolve);
    });
  }

  #failed(error: unknown, attempt: number): void {
    const isInvalid = isDeviceCloudError(error, 'INVALID_RESPONSE');
    this.#invalid = isInvalid ? this.#invalid + 1 : 0;
    this.#failures++;
    const code = isDeviceCloudError(error) ? `${error.code} ${error.statusCode ?? ''}` : 'error';
    const isSilent = attempt < SILENT_TRIES && isPassing(error);
    if (!isSilent && code !== this.#reportedFailure) {
      this.#reportedFailure = code;
      this.onFault(`uploads could not be recovered: ${textOf(error)}`, `recovery failed ${code}`);
    }
    if (this.#isHopeless) this.#goLive();
  }

  /** Whether the history has failed too often to be waited for. */
  get #isHopeless(): boolean {
    return this.#invalid >= INVALID_TRIES || this.#failures >= FAILED_TRIES;
  }

  /** Emits what an answer shows, and decides when the history is read again. */
  async #settle(answer: HistoryAnswer, signal: AbortSignal): Promise<void> {
    const suspect = (): boolean => this.#suspect;
    const settled = await this.#settling.settle(answer, this.#followUps, suspect, signal);
    const { random } = this.#shared;
    if (settled.kind === 'over' || signal.aborted) return;
    if (settled.kind === 'no beginning') {
      this.#delivery.stayLive();
      this.#reading.later(retryDelay(this.#followUps++, false, random));
      return;
    }
    if (settled.kind === 'unclear') {
      const isSoon = this.#followUps < FIRST_TRIES;
      // As after a clear answer.
      if (!isSoon || !this.#delivery.progress.arrivals.hasDoubtful) this.#delivery.stayLive();
      this.#reading.later(isSoon ? followUpDelay(this.#followUps++, random) : LATER * random());
      return;
    }
    this.#checkpoint.read(answer.length, settled.isTruncated);
    if (!settled.isWhole) {
      // The next reading needs the room.
      answer.release();
      this.#reading.start();
      return;
    }
    this.#ended();
    this.#followUp(settled.isAmbiguous);
    if (settled.hasDoubtful) this.#reading.later(DOUBT_DELAY);
  }

  /** Reads again soon if something was left open, or was unreadable meanwhile. */
  #followUp(isAmbiguous: boolean): void {
    const { random } = this.#shared;
    if (!isAmbiguous) this.#followUps = 0;
    if (this.#suspect) this.#reading.later(followUpDelay(this.#unreadable++, random));
    else if (isAmbiguous) this.#reading.later(followUpDelay(this.#followUps++, random));
  }

  /** Live uploads have waited for too long: they will not wait for this history again until it has answered. */
  #expired(): void {
    this.#failures = Math.max(this.#failures, FAILED_TRIES);
    this.#goLive();
  }

  /** The history has been unavailable for too long: live uploads are emitted, missed ones will be late. */
  #goLive(): void {
    if (!this.#delivery.isHolding) return;
    if (this.#delivery.stayLive()) {
      this.#suspect = true;
      this.#reading.soon(DOUBT_DELAY);
    }
    this.onFault('the history could not be read in time: missed uploads will come late', 'late');
  }

  /** Reads the history before too many arrivals are remembered, and forgets them if it never answers. */
  #checkLimits(): void {
    const [checkpoint, delivery, reading] = [this.#checkpoint, this.#delivery, this.#reading];
    if (delivery.isFull(checkpoint.most)) {
      delivery.forget();
      reading.stop();
      this.onFault(
        'the history could not be reached for too long; older missed uploads are lost',
        'given up',
      );
      reading.start();
    } else if (
      delivery.progress.arrivals.size > checkpoint.due(delivery.isPressed) &&
      !reading.isDue()
    )
      reading.start();
  }

  #began(): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#shared.observer.onRecovering(this.#device.chipid);
  }

  #ended(): void {
    const { replayed } = this.#delivery;
    const count = replayed - this.#reported;
    this.#reported = replayed;
    // A later reading may find more, from a gap that was not noticed.
    if (count > 0) this.#began();
    if (!this.#recovering) return;
    this.#recovering = false;
    this.#shared.observer.onRecovered(this.#device.chipid, count);
  }

  /** What is held back came live, and stays so: the next answer shows its place. */
  #stop(): void {
    this.#reading.stop();
    this.#delivery.pause();
  }
}
