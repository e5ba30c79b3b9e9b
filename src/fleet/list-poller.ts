import { DeviceCloudError, waitOf } from '../errors';
import { chipidOf, isolated } from '../protocol/values';
import type { DeviceRecord } from '../types';

/** The result of one good reading of the list of online devices. */
export interface ListReading {
  /** When the request began, in ms by this clock. */
  readonly at: number;
  /** By chip number, as digits. */
  readonly devices: ReadonlyMap<string, DeviceRecord>;
  /** The number of records without a valid chip number, which are left out. */
  readonly invalid: number;
  /** Whether it was a turn of the poller: readings on demand may follow too soon to count as absences. */
  readonly polled: boolean;
}

/** The records of a list. The public server of 2016 may list a device twice: the record with the newer `latest` counts. */
export interface DeviceList extends Pick<ListReading, 'devices' | 'invalid'> {
  /** Each device once, and the records without a valid chip number. */
  readonly records: DeviceRecord[];
}

/** Compares times as the service writes them; they may be malformed. */
const isNewer = ({ latest }: DeviceRecord, other: DeviceRecord): boolean =>
  typeof latest === 'string' && typeof other.latest === 'string' && latest > other.latest;

/** Sorts the records of a list, each of which may be anything, by their chip numbers. */
export function sortList(all: readonly (DeviceRecord | null)[]): DeviceList {
  const devices = new Map<string, DeviceRecord>();
  for (const record of all) {
    const chipid = chipidOf(record?.chipid);
    if (!record || chipid === undefined) continue;
    const known = devices.get(chipid);
    if (!known || isNewer(record, known)) devices.set(chipid, record);
  }
  const records = all.filter((record): record is DeviceRecord => {
    const chipid = chipidOf(record?.chipid);
    return chipid === undefined || devices.get(chipid) === record;
  });
  return { devices, records, invalid: records.length - devices.size };
}

/** Whether a list says who is online: not if it has records, and none has a valid chip number. */
export const isUsable = ({ devices, invalid }: DeviceList): boolean =>
  invalid === 0 || devices.size > 0;

/**
 * A list that says who is online.
 * @param statusCode of the answer, for the error
 * @throws DeviceCloudError `INVALID_RESPONSE` if it does not
 */
export function usableList(all: readonly DeviceRecord[], statusCode?: number): DeviceList {
  const list = sortList(all);
  if (isUsable(list)) return list;
  const { invalid } = list;
  throw new DeviceCloudError(
    'INVALID_RESPONSE',
    `${invalid === 1 ? 'The only record has no' : `None of the ${invalid} records has a`} valid chip number. ` +
      "Listing the online devices failed. Check that the address is the service's.",
    statusCode,
  );
}

/** A user of the polled list. It also receives readings that others request; errors of its callbacks are isolated. */
export interface ListUser {
  /** The list was read. */
  onReading?(reading: ListReading): void;
  /** A reading by the poller failed. */
  onReadError?(error: unknown): void;
}

interface ListPollerDeps {
  list: (signal: AbortSignal) => Promise<readonly DeviceRecord[]>;
  /** Is called with each reading before the users. */
  onReading: (reading: ListReading) => void;
  onReadError: (error: unknown) => void;
  now: () => number;
}

/** A user that joins within this time after a reading began gets that reading, in milliseconds. */
const JUST_NOW = 1000;

interface Place {
  readonly interval: number;
  readonly user: ListUser;
}

/** Reads the list of an application's online devices, once for all users. */
export class ListPoller {
  readonly #deps: ListPollerDeps;
  readonly #abort = new AbortController();
  /** Replaced, never changed: a user may join or leave from a callback. */
  #places: readonly Place[] = [];
  #reading: Promise<ListReading> | undefined;
  /** Whether the reading under way counts as one by the poller. */
  #isPolled = false;
  #last: ListReading | undefined;
  #endedAt = 0;
  /** For how long after that the service asks to wait, in milliseconds. */
  #wait = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: ListPollerDeps) {
    this.#deps = deps;
  }

  /**
   * Joins the polling: the shortest interval of all users counts; it stops with the last. The first reading
   * begins at once, unless one has just begun.
   * @param interval milliseconds from the end of a reading to the next
   * @returns a function that leaves it
   */
  poll(interval: number, user: ListUser): () => void {
    const place = { interval, user };
    if (this.#abort.signal.aborted) return () => undefined;
    const isFirst = this.#places.length === 0;
    this.#places = [...this.#places, place];
    if (isFirst) this.#pollNow();
    else this.#join(place);
    return () => {
      this.#places = this.#places.filter((each) => each !== place);
      this.#schedule();
    };
  }

  /** Joins the reading under way, or begins one, unless the last one is at most `maxAge` ms old. */
  read(maxAge = 0): Promise<ListReading> {
    const last = this.#last;
    const { signal } = this.#abort;
    const age = last ? this.#deps.now() - last.at : Infinity;
    if (this.#reading) return this.#reading;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (last && maxAge > 0 && age >= 0 && age <= maxAge) return Promise.resolve(last);
    return (this.#reading = this.#request());
  }

  /** Ends it permanently. */
  close(): void {
    this.#places = [];
    clearTimeout(this.#timer);
    this.#abort.abort(
      new DeviceCloudError('UNREACHABLE', 'The list was not read, since the client was closed.'),
    );
  }

  /** Gives a later user the latest reading, or a new one, which does not count as a turn of the poller. */
  #join(place: Place): void {
    this.#schedule();
    if (this.#reading) return;
    const last = this.#last;
    this.read(JUST_NOW).then(
      (reading) => {
        // A new one is given to all users.
        if (reading === last && this.#places.includes(place))
          isolated(() => place.user.onReading?.(reading));
      },
      (error: unknown) => isolated(() => place.user.onReadError?.(error)),
    );
  }

  #pollNow(): void {
    this.#timer = undefined;
    this.#isPolled = true;
    // An error is reported to the users.
    this.read().catch(() => undefined);
  }

  /** Requests the list once, and passes the reading or the error on. */
  async #request(): Promise<ListReading> {
    const { list, now, onReading, onReadError } = this.#deps;
    const { signal } = this.#abort;
    const at = now();
    if (this.#isPolled) this.#wait = 0;
    try {
      const records = await list(signal);
      signal.throwIfAborted();
      const { devices, invalid } = usableList(records);
      const reading: ListReading = { at, polled: this.#isPolled, devices, invalid };
      this.#last = reading;
      onReading(reading);
      for (const { user } of this.#places) isolated(() => user.onReading?.(reading));
      return reading;
    } catch (error) {
      if (this.#isPolled && !signal.aborted) {
        this.#wait = waitOf(error);
        onReadError(error);
        for (const { user } of this.#places) isolated(() => user.onReadError?.(error));
      }
      throw error;
    } finally {
      this.#reading = undefined;
      if (this.#isPolled) {
        this.#isPolled = false;
        this.#endedAt = now();
        this.#schedule();
      }
    }
  }

  /** Sets the timer of the next turn. One that is under way does so at its end. */
  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isPolled || this.#places.length === 0) return;
    const interval = Math.max(this.#wait, Math.min(...this.#places.map((place) => place.interval)));
    const passed = Math.max(0, this.#deps.now() - this.#endedAt);
    this.#timer = setTimeout(() => this.#pollNow(), Math.max(0, interval - passed));
  }
}
