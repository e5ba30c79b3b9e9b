import { isDeviceCloudError } from '../errors';
import type { UploadRecord } from '../records';
import type { Upload } from '../upload-event';
import { createLedger, type Position } from './ledger';
import { createReading } from './reading';
import { liveKey, readRecords, UnusableHistory } from './recorded';
import { FIRST_READ, FIRST_TRIES, followUpDelay, LIMITS, MAX_HOLD, retryDelay } from './timing';
import type { Limits } from './timing';
import { createZone } from './zone';

/** What recovery needs of its device, and whom it tells. */
export interface RecoveryDeps {
  appid: string;
  chipid: string;
  encoding: 'text' | 'base64';
  /**
   * Reads the device's history, when its turn among many devices has come.
   * @param asked is told just before the history is asked
   */
  read: (signal: AbortSignal, asked: () => void) => Promise<UploadRecord[]>;
  /** Calls back when everything that the peer sent before has arrived, or its connection has ended. */
  fence: (passed: () => void) => void;
  emit: (upload: Upload) => void;
  /** Something kept uploads from being recovered for now, in words for the log. */
  fault: (text: string) => void;
  /** Where an earlier run left off. */
  start?: Position | undefined;
  /** Is told how far the uploads have been emitted, after each one. */
  save?: ((position: Position) => void) | undefined;
  limits?: Limits;
  now: () => number;
  random: () => number;
}

/** Stands between the channel of one device and who listens, and gives back what the channel missed. */
export interface Recovery {
  onUpload(upload: Upload): void;
  /** Something came that could not be read, perhaps an upload. */
  onFault(): void;
  onConnected(): void;
  onDisconnected(): void;
  close(): void;
}

const textOf = (error: unknown): string =>
  isDeviceCloudError(error) || error instanceof UnusableHistory ? error.message : String(error);

export function createRecovery(deps: RecoveryDeps): Recovery {
  const { limits = LIMITS, random, fault } = deps;
  const zone = createZone();
  const form = { appid: deps.appid, chipid: deps.chipid, encoding: deps.encoding, zone };
  const reading = createReading(read);
  let ledger = createLedger(deps.start);
  let closed = false;
  let connected = false;
  let holding = false;
  let holdTimer: NodeJS.Timeout | undefined;
  let held = 0;
  let overflows = 0;
  let followUps = 0;
  let unreadable = 0;
  /** Arrivals after which the position is moved on: fewer if the history does not reach back far. */
  let checkpoint = limits.arrived;

  /** One upload that its user chokes on must not take the others with it. */
  const emit = (upload: Upload): void => {
    if (closed) return;
    try {
      deps.emit(upload);
    } catch (error) {
      fault(`an upload could not be handed on: ${textOf(error)}`);
    }
  };

  const save = (): void => {
    const position = deps.save && !closed && ledger.position();
    if (position) deps.save?.(position);
  };

  const letGo = (): void => {
    holding = false;
    held = 0;
    clearTimeout(holdTimer);
  };

  const stop = (): void => {
    reading.stop();
    ledger.drop();
    letGo();
  };

  /** The history is out of reach for too long: live uploads go on, missed ones come late. */
  const goLive = (): void => {
    letGo();
    for (const upload of ledger.release()) emit(upload);
    save();
    fault('the history could not be read in time: missed uploads will come late');
  };

  const settle = (answer: UploadRecord[]): void => {
    const records = readRecords(answer, form, deps.now());
    const isFirst = !ledger.hasPosition();
    const { due, pair, ambiguous, truncated } = ledger.settle(records, followUps >= FIRST_TRIES);
    if (pair) zone.learn(pair.arrived, pair.recorded);
    if (truncated) checkpoint = Math.min(checkpoint, Math.ceil(records.length / 2));
    letGo();
    for (const upload of due) emit(upload);
    save();
    if (!ambiguous) followUps = 0;
    else if (isFirst) reading.later(retryDelay(followUps++, false, random));
    else reading.later(followUpDelay(followUps++, random));
  };

  async function read(signal: AbortSignal, attempt: number): Promise<void> {
    const before = overflows;
    try {
      const records = await deps.read(signal, () => {
        if (!signal.aborted) ledger.mark();
      });
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        deps.fence(resolve);
      });
      if (signal.aborted) return;
      // Of what did not fit, the answer may have a part only: what is held is later than the rest.
      if (overflows === before) {
        settle(records);
        return;
      }
    } catch (error) {
      if (signal.aborted) return;
      fault(`uploads could not be recovered: ${textOf(error)}`);
    }
    reading.later(retryDelay(attempt, holding, random), attempt + 1);
  }

  /** Keeps what is remembered within bounds. */
  const bound = (): void => {
    if (ledger.size() > limits.forgotten) {
      ledger = createLedger();
      reading.stop();
      fault('the history was out of reach for too long: older missed uploads are given up');
      reading.start();
    } else if (ledger.size() > checkpoint && !reading.due()) reading.start();
  };

  // What is owed begins with a first reading of the history, even if the channel takes its time.
  if (!ledger.hasPosition()) reading.later(FIRST_READ);

  return {
    onConnected() {
      connected = true;
      stop();
      ledger.gap();
      // Before the first reading nothing is owed, so nothing has to wait for it.
      holding = ledger.hasPosition();
      if (holding) {
        followUps = 0;
        unreadable = 0;
        holdTimer = setTimeout(goLive, MAX_HOLD);
      }
      reading.start();
    },
    onDisconnected() {
      if (ledger.hasPosition()) stop();
      else if (connected && reading.running()) {
        // Which of the arrivals its answer has could not be told any more.
        reading.stop();
        reading.later(retryDelay(0, false, random));
      }
      connected = false;
    },
    onUpload(upload) {
      const key = liveKey(upload.body, deps.encoding);
      if (holding) {
        ledger.add(key, upload.timestamp, upload);
        if (++held <= limits.held) return;
        overflows++;
        held = 0;
        ledger.drop();
        return;
      }
      emit(upload);
      ledger.add(key, upload.timestamp);
      save();
      bound();
    },
    onFault() {
      // What arrives now follows after a gap, which a reading under way must not have in its middle.
      ledger.gap();
      if (reading.running()) reading.start();
      else if (!reading.due()) reading.later(followUpDelay(unreadable++, random));
    },
    close() {
      closed = true;
      // Perhaps out of the middle of an emission, after which a reading would be due.
      reading.end();
      stop();
    },
  };
}
