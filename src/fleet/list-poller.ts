import { DeviceCloudError, waitOf } from '../errors';
import { chipidOf } from '../input/chipid';
import type { DeviceRecord } from '../types';
import { isolated } from '../util/thrown';

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

/** Compares times as the service writes them; they may be malformed. */
const isNewer = (latest: unknown, other: unknown): boolean => String(latest) > String(other);

/** A record may be anything. */
const numberOf = (record: DeviceRecord | null): string | undefined => chipidOf(record?.chipid);

/**
 * A list in which each device is once: the public server of 2016 may list one twice, with another `latest`. The record
 * with the newer one is kept, in the place of the first. Records without a valid chip number stay.
 */
export function eachOnce(records: readonly DeviceRecord[]): DeviceRecord[] {
  const places = new Map<string, number>();
  const unique: DeviceRecord[] = [];
  for (const record of records) {
    const chipid = numberOf(record);
    const place = chipid === undefined ? undefined : places.get(chipid);
    if (place === undefined) {
      if (chipid !== undefined) places.set(chipid, unique.length);
      unique.push(record);
    } else if (isNewer(record.latest, unique[place]?.latest)) unique[place] = record;
  }
  return unique;
}

/**
 * Sorts the records of a list by their chip numbers: see {@link eachOnce}.
 * @param statusCode of the answer, for the error
 * @throws DeviceCloudError `INVALID_RESPONSE` if it has records, and none has a valid chip number: such a list says
 * nothing about who is offline
 */
export function byChipid(
  records: readonly DeviceRecord[],
  statusCode?: number,
): Pick<ListReading, 'devices' | 'invalid'> {
  const devices = new Map<string, DeviceRecord>();
  let invalid = 0;
  for (const record of records) {
    const chipid = numberOf(record);
    const known = devices.get(chipid ?? '');
    if (chipid === undefined) invalid++;
    else if (!known || isNewer(record.latest, known.latest)) devices.set(chipid, record);
  }
  if (invalid > 0 && devices.size === 0) throw unusable(invalid, statusCode);
  return { devices, invalid };
}

const unusable = (records: number, statusCode: number | undefined): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    `${records === 1 ? 'The only record has no' : `None of the ${records} records has a`} valid chip number. ` +
      "Listing the online devices failed. Check that the address is the service's.",
    statusCode,
  );

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
    if (this.#reading) return this.#reading;
    if (last && maxAge > 0 && this.#isYoung(last, maxAge)) return Promise.resolve(last);
    return this.#begin();
  }

  /** Ends it permanently. */
  close(): void {
    this.#places = [];
    clearTimeout(this.#timer);
    this.#abort.abort(
      new DeviceCloudError('UNREACHABLE', 'The list was not read, since the client was closed.'),
    );
  }

  #isYoung({ at }: ListReading, maxAge: number): boolean {
    const age = this.#deps.now() - at;
    return age >= 0 && age <= maxAge;
  }

  /** Gives a later user the latest reading, or a new one, which does not count as a turn of the poller. */
  #join(place: Place): void {
    this.#schedule();
    if (this.#reading) return;
    const last = this.#last;
    if (!last || !this.#isYoung(last, JUST_NOW)) {
      this.#begin().catch((error: unknown) => isolated(() => place.user.onReadError?.(error)));
      return;
    }
    queueMicrotask(() => {
      if (this.#places.includes(place)) isolated(() => place.user.onReading?.(last));
    });
  }

  #pollNow(): void {
    this.#timer = undefined;
    this.#isPolled = true;
    // An error is reported to the users.
    this.read().catch(() => undefined);
  }

  #begin(): Promise<ListReading> {
    const reading = this.#request().finally(() => this.#ended());
    this.#reading = reading;
    return reading;
  }

  #ended(): void {
    this.#reading = undefined;
    if (!this.#isPolled) return;
    this.#isPolled = false;
    this.#endedAt = this.#deps.now();
    this.#schedule();
  }

  /** Requests the list once, and passes the reading or the error on. */
  async #request(): Promise<ListReading> {
    const { list, now } = this.#deps;
    const { signal } = this.#abort;
    const at = now();
    let found: ReturnType<typeof byChipid>;
    if (this.#isPolled) this.#wait = 0;
    try {
      signal.throwIfAborted();
      found = byChipid(await list(signal));
      signal.throwIfAborted();
    } catch (error) {
      if (this.#isPolled) this.#wait = waitOf(error);
      if (this.#isPolled && !signal.aborted) this.#failed(error);
      throw error;
    }
    const reading: ListReading = { at, polled: this.#isPolled, ...found };
    this.#publish(reading);
    return reading;
  }

  #publish(reading: ListReading): void {
    this.#last = reading;
    this.#deps.onReading(reading);
    for (const { user } of this.#places) isolated(() => user.onReading?.(reading));
  }

  #failed(error: unknown): void {
    this.#deps.onReadError(error);
    for (const { user } of this.#places) isolated(() => user.onReadError?.(error));
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
