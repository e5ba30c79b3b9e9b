import { DeviceCloudError } from '../errors';
import type { Reader } from '../history/read-limiter';
import type { PacedAttempt } from '../http/adaptive-limiters';
import type { RecoveryShared } from '../recovery/options';
import { isPassing, SILENT_TRIES } from '../recovery/reading';
import type { KeptUpload } from './latest';
import { NewestRecord, type HistorySettings } from './latest-history';
import type { FleetRegistry } from './registry';

/** Milliseconds during which a history that was empty is not read again. */
const EMPTY_FOR = 60_000;
/** Empty histories that are remembered at most. */
const MAX_EMPTY = 10_000;

/**
 * Histories that are read at once, of the few that the application may read: recoveries, for which live
 * uploads wait, need the others.
 */
const AT_ONCE = 2;

type Shared = Pick<RecoveryShared, 'appid' | 'read' | 'limiter' | 'facts' | 'now'>;

/** One reading of a history, for all callers that wait for it. */
interface Reading extends Reader {
  readonly answer: Promise<NewestRecord>;
  readonly reject: (error: unknown) => void;
}

/**
 * Finds the latest upload of a device that no listener has received: in the history, read once for all who ask at the
 * same time.
 */
export class LatestReader {
  readonly #shared: Shared;
  readonly #registry: FleetRegistry;
  readonly #abort = new AbortController();
  /** By device, those that wait included, in the order of asking. */
  readonly #readings = new Map<string, Reading>();
  readonly #waiting: Reading[] = [];
  #running = 0;
  /** When a history was found empty. */
  readonly #empty = new Map<string, number>();

  constructor(shared: Shared, registry: FleetRegistry) {
    this.#shared = shared;
    this.#registry = registry;
  }

  /** @throws DeviceCloudError as a reading of the history does, and as {@link NewestRecord.upload} */
  async read(chipid: string, settings: HistorySettings): Promise<KeptUpload | undefined> {
    const known = this.#registry.get(chipid)?.latest;
    if (known || this.#isEmpty(chipid)) return known;
    const record = await (this.#readings.get(chipid) ?? this.#join(chipid)).answer;
    const { appid, facts, now } = this.#shared;
    const newest = record.upload(appid, facts, settings, now());
    if (newest) this.#registry.recordUpload(newest, 'history');
    else this.#foundEmpty(chipid);
    return this.#registry.get(chipid)?.latest;
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

  #join(chipid: string): Reading {
    if (this.#abort.signal.aborted) throw closed();
    let resolve!: (newest: NewestRecord) => void;
    let reject!: (error: unknown) => void;
    const answer = new Promise<NewestRecord>((...both) => ([resolve, reject] = both));
    let failed = 0;
    const granted = async (turn: PacedAttempt): Promise<void> => {
      const { read, limiter } = this.#shared;
      const { signal } = this.#abort;
      try {
        const newest = new NewestRecord(chipid);
        await read(chipid, signal, (record) => newest.take(record), turn);
        resolve(newest);
      } catch (error) {
        if (isPassing(error) && failed++ < SILENT_TRIES && !signal.aborted) {
          limiter.acquire(reading);
          return;
        }
        reject(error);
      }
      this.#readings.delete(chipid);
      this.#running--;
      this.#next();
    };
    const reading: Reading = {
      urgency: 'live',
      granted: (turn) => void granted(turn),
      answer,
      reject,
    };
    this.#readings.set(chipid, reading);
    this.#waiting.push(reading);
    this.#next();
    return reading;
  }

  #next(): void {
    while (this.#running < AT_ONCE) {
      const reading = this.#waiting.shift();
      if (!reading) return;
      this.#running++;
      this.#shared.limiter.acquire(reading);
    }
  }

  #isEmpty(chipid: string): boolean {
    const age = this.#shared.now() - (this.#empty.get(chipid) ?? -Infinity);
    return age >= 0 && age < EMPTY_FOR;
  }

  #foundEmpty(chipid: string): void {
    this.#empty.delete(chipid);
    this.#empty.set(chipid, this.#shared.now());
    const [oldest] = this.#empty.keys();
    if (this.#empty.size > MAX_EMPTY && oldest !== undefined) this.#empty.delete(oldest);
  }
}

const closed = (): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', 'The history was not read, since the client was closed.');
