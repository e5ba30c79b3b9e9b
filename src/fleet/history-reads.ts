import { DeviceCloudError } from '../errors';
import type { RecoveryShared } from '../recovery/options';
import type { PacedAttempt } from '../http/adaptive-limiters';
import { isPassing, SILENT_TRIES } from '../recovery/reading';
import { NewestRecord } from './latest-history';
import type { Reader } from '../history/read-limiter';

/**
 * Histories that are read at once, of the few that the application may read: recoveries, for which live
 * uploads wait, need the others.
 */
const AT_ONCE = 2;

/** One reading of a history, and the callers that wait for it. */
class Reading implements Reader {
  readonly urgency = 'live';
  readonly answer: Promise<NewestRecord>;
  resolve!: (answer: NewestRecord) => void;
  reject!: (error: unknown) => void;
  failed = 0;

  constructor(private readonly read: (reading: Reading, turn: PacedAttempt) => void) {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  granted(turn: PacedAttempt): void {
    this.read(this, turn);
  }
}

/** Reads histories of devices when they are asked for: each once for all who ask at the same time. */
export class HistoryReads {
  readonly #shared: Pick<RecoveryShared, 'read' | 'limiter'>;
  readonly #abort = new AbortController();
  /** By device, those that wait included, in the order of asking. */
  readonly #readings = new Map<string, Reading>();
  readonly #waiting: Reading[] = [];
  #running = 0;

  constructor(shared: Pick<RecoveryShared, 'read' | 'limiter'>) {
    this.#shared = shared;
  }

  /** @throws DeviceCloudError as a reading of the history does */
  read(chipid: string): Promise<NewestRecord> {
    const known = this.#readings.get(chipid);
    if (known) return known.answer;
    if (this.#abort.signal.aborted) return Promise.reject(closed());
    const reading = new Reading((self, turn) => void this.#read(chipid, self, turn));
    this.#readings.set(chipid, reading);
    this.#waiting.push(reading);
    this.#next();
    return reading.answer;
  }

  /** Ends every reading with an error. */
  close(): void {
    this.#abort.abort('the client was closed');
    this.#waiting.length = 0;
    for (const reading of this.#readings.values()) {
      this.#shared.limiter.cancel(reading);
      reading.reject(closed());
    }
    this.#readings.clear();
  }

  #next(): void {
    while (this.#running < AT_ONCE) {
      const reading = this.#waiting.shift();
      if (!reading) return;
      this.#running++;
      this.#shared.limiter.acquire(reading);
    }
  }

  async #read(chipid: string, reading: Reading, turn: PacedAttempt): Promise<void> {
    const { read, limiter } = this.#shared;
    const { signal } = this.#abort;
    try {
      const newest = new NewestRecord(chipid);
      await read(chipid, signal, (record) => newest.take(record), turn);
      reading.resolve(newest);
    } catch (error) {
      if (isPassing(error) && reading.failed++ < SILENT_TRIES && !signal.aborted) {
        limiter.acquire(reading);
        return;
      }
      reading.reject(error);
    }
    this.#readings.delete(chipid);
    this.#running--;
    this.#next();
  }
}

const closed = (): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', 'The history was not read, since the client was closed.');
