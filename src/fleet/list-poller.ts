import { DeviceCloudError } from '../errors';
import type { DeviceRecord } from '../types';
import { isolated } from '../util/thrown';
import { byChipid } from './list-reading';
import type { ListReading } from './list-reading';

export type { ListReading } from './list-reading';

/** A user of the polled list. It also receives readings that others request; errors of its callbacks are isolated. */
export interface ListUser {
  /** The list was read. */
  onReading?(reading: ListReading): void;
  /** A reading by the poller failed. */
  onReadError?(error: unknown): void;
}

/** Reads the list of an application's online devices, once for all users. */
export interface ListPoller {
  /**
   * Joins the polling: the shortest interval of all users counts; it stops with the last. The first reading
   * begins at once, unless one has just begun.
   * @param seconds from the end of a reading to the next
   * @returns a function that leaves it
   */
  poll(seconds: number, user: ListUser): () => void;
  /** Joins the reading under way, or begins one, unless the last one is at most `maxAge` ms old (default 0). */
  read(maxAge?: number): Promise<ListReading>;
  /** Ends it permanently. */
  close(): void;
}

/** The dependencies of a poller. */
export interface ListPollerDeps {
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

export class SharedListPoller implements ListPoller {
  readonly #deps: ListPollerDeps;
  readonly #abort = new AbortController();
  /** Replaced, never changed: a user may join or leave from a callback. */
  #places: readonly Place[] = [];
  #reading: Promise<ListReading> | undefined;
  /** Whether the reading under way counts as one by the poller. */
  #polled = false;
  #last: ListReading | undefined;
  /** When the last reading by the poller ended. */
  #endedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: ListPollerDeps) {
    this.#deps = deps;
  }

  poll(seconds: number, user: ListUser): () => void {
    const place = { interval: seconds * 1000, user };
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

  read(maxAge = 0): Promise<ListReading> {
    const last = this.#last;
    if (this.#reading) return this.#reading;
    if (last && maxAge > 0 && this.#isYoung(last, maxAge)) return Promise.resolve(last);
    return this.#begin();
  }

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
    this.#polled = true;
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
    if (!this.#polled) return;
    this.#polled = false;
    this.#endedAt = this.#deps.now();
    this.#schedule();
  }

  /** Requests the list once, and passes the reading or the error on. */
  async #request(): Promise<ListReading> {
    const { list, now } = this.#deps;
    const { signal } = this.#abort;
    const at = now();
    let found: ReturnType<typeof byChipid>;
    try {
      signal.throwIfAborted();
      found = byChipid(await list(signal));
      signal.throwIfAborted();
    } catch (error) {
      if (this.#polled && !signal.aborted) this.#failed(error);
      throw error;
    }
    const reading: ListReading = { at, polled: this.#polled, ...found };
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
    if (this.#polled || this.#places.length === 0) return;
    const interval = Math.min(...this.#places.map((place) => place.interval));
    const passed = Math.max(0, this.#deps.now() - this.#endedAt);
    this.#timer = setTimeout(() => this.#pollNow(), Math.max(0, interval - passed));
  }
}
