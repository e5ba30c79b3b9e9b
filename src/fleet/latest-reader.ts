import { DeviceCloudError } from '../errors';
import type { Reader } from '../history/read-limiter';
import type { PacedAttempt } from '../http/adaptive-limiters';
import { onAbort } from '../http/deadline';
import type { RecoveryShared } from '../recovery/options';
import { isPassing, SILENT_TRIES } from '../recovery/reading';
import { Semaphore } from '../util/semaphore';
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

/**
 * Finds the latest upload of a device that no listener has received: in the history, read once for all who ask at the
 * same time.
 */
export class LatestReader {
  readonly #shared: Shared;
  readonly #registry: FleetRegistry;
  readonly #closing = new AbortController();
  readonly #readings = new Map<string, Promise<NewestRecord>>();
  readonly #semaphore = new Semaphore(AT_ONCE);
  readonly #empty = new Map<string, number>();

  constructor(shared: Shared, registry: FleetRegistry) {
    this.#shared = shared;
    this.#registry = registry;
  }

  /** @throws DeviceCloudError as a reading of the history does, and as {@link NewestRecord.upload} */
  async read(chipid: string, settings: HistorySettings): Promise<KeptUpload | undefined> {
    const known = this.#registry.get(chipid)?.latest;
    if (known || this.#isEmpty(chipid)) return known;
    let reading = this.#readings.get(chipid);
    if (!reading) {
      const found = this.#semaphore.run(() => this.#find(chipid));
      reading = found.finally(() => this.#readings.delete(chipid));
      this.#readings.set(chipid, reading);
    }
    const record = await reading;
    const { appid, facts, now } = this.#shared;
    const newest = record.upload(appid, facts, settings, now());
    if (newest) this.#registry.recordUpload(newest, 'history');
    else this.#foundEmpty(chipid);
    return this.#registry.get(chipid)?.latest;
  }

  /** Ends every reading with an error. */
  close(): void {
    this.#closing.abort('the client was closed');
  }

  async #find(chipid: string): Promise<NewestRecord> {
    const { signal } = this.#closing;
    for (let failed = 0; ; failed++) {
      const turn = await this.#turn();
      const newest = new NewestRecord(chipid);
      try {
        await this.#shared.read(chipid, signal, (record) => newest.take(record), turn);
        return newest;
      } catch (error) {
        if (signal.aborted) throw closed();
        if (!isPassing(error) || failed >= SILENT_TRIES) throw error;
      }
    }
  }

  /** @throws DeviceCloudError `UNREACHABLE` once the client was closed */
  #turn(): Promise<PacedAttempt> {
    const { limiter } = this.#shared;
    const { signal } = this.#closing;
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw closed();
      const granted = (turn: PacedAttempt): void => {
        ignore();
        resolve(turn);
      };
      const reader: Reader = { urgency: 'live', granted };
      const ignore = onAbort(signal, () => {
        limiter.cancel(reader);
        reject(closed());
      });
      limiter.acquire(reader);
    });
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
