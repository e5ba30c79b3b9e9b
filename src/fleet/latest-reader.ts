import type { RecoveryShared } from '../recovery/options';
import type { KeptUpload } from './latest';
import { HistoryReads } from './history-reads';
import type { HistorySettings } from './latest-history';
import type { FleetRegistry } from './registry';

/** Milliseconds during which a history that was empty is not read again. */
const EMPTY_FOR = 60_000;
/** Empty histories that are remembered at most. */
const MAX_EMPTY = 10_000;

type Shared = Pick<RecoveryShared, 'appid' | 'read' | 'limiter' | 'facts' | 'now'>;

/** Finds the latest upload of a device that no listener has received: in the history, read once. */
export class LatestReader {
  readonly #shared: Shared;
  readonly #registry: FleetRegistry;
  readonly #reads: HistoryReads;
  /** When a history was found empty. */
  readonly #empty = new Map<string, number>();

  constructor(shared: Shared, registry: FleetRegistry) {
    this.#shared = shared;
    this.#registry = registry;
    this.#reads = new HistoryReads(shared);
  }

  /** @throws DeviceCloudError as a reading of the history does, and as {@link NewestRecord.upload} */
  async read(chipid: string, settings: HistorySettings): Promise<KeptUpload | undefined> {
    const known = this.#registry.get(chipid)?.latest;
    if (known || this.#isEmpty(chipid)) return known;
    const record = await this.#reads.read(chipid);
    const { appid, facts, now } = this.#shared;
    const newest = record.upload(appid, facts, settings, now());
    if (newest) this.#registry.recordUpload(newest, 'history');
    else this.#foundEmpty(chipid);
    return this.#registry.get(chipid)?.latest;
  }

  close(): void {
    this.#reads.close();
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
