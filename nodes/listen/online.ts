import type { ListReading, Keeping } from '../../src/index';

/** Devices that are listened to at most, and for how long after they were last seen online. */
const MAX_SEEN = 10_000;
const MAX_AGE = 30 * 24 * 3600_000;

/** Milliseconds after which a new time is written. */
const WRITE_TIMES = 3600_000;

interface OnlineDeps {
  /** It is loaded. */
  store: Keeping;
  /** The id of the listener. */
  node: string;
  /** The service's time in ms, since the clock of this machine may be wrong; undefined before its first answer. */
  now: () => number | undefined;
  add: (chipid: string) => void;
  remove: (chipid: string) => void;
  /** The list has more devices than can be listened to. */
  full: (max: number) => void;
}

/**
 * The devices that were seen online, each for 30 days after the last time: a device that sleeps is heard the moment it
 * wakes, and not with the next reading of the list.
 */
export class OnlineDevices {
  /** When each was last seen, in ms; the longest ago comes first. */
  readonly #seen = new Map<string, number>();
  readonly #prefix: string;
  readonly #deps: OnlineDeps;

  constructor(deps: OnlineDeps) {
    this.#deps = deps;
    this.#prefix = `seen:${deps.node}:`;
    this.restore();
  }

  /** Listens to those that were seen before, here or in another process of a cluster. */
  restore(): void {
    const { store, add } = this.#deps;
    const seen = store.list(this.#prefix).flatMap(([key, at]): [string, number][] => {
      const chipid = key.slice(this.#prefix.length);
      return /^\d{1,20}$/.test(chipid) && typeof at === 'number' ? [[chipid, at]] : [];
    });
    for (const [chipid, at] of seen.sort(([, a], [, b]) => a - b).slice(-MAX_SEEN)) {
      if (this.#seen.has(chipid)) continue;
      this.#seen.set(chipid, at);
      add(chipid);
    }
  }

  /** The list has been read: listens to its devices, and no longer to those that were not seen for 30 days. */
  onReading({ devices }: Pick<ListReading, 'devices'>): void {
    const now = this.#deps.now() ?? 0;
    const added: string[] = [];
    // Those that are known are seen first: a list that is too long must not push them out, one after another.
    for (const chipid of devices.keys()) if (!this.seen(chipid)) added.push(chipid);
    for (const chipid of added) {
      if (this.#add(chipid, now)) continue;
      this.#deps.full(MAX_SEEN);
      break;
    }
    for (const [chipid, at] of this.#seen) {
      if (at >= now - MAX_AGE) break;
      this.#forget(chipid);
    }
  }

  /** A device is online: it is listed, or has just uploaded. @returns whether it is known */
  seen(chipid: string): boolean {
    const before = this.#seen.get(chipid);
    if (before === undefined) return false;
    this.#set(chipid, this.#deps.now() ?? before);
    return true;
  }

  #set(chipid: string, at: number): void {
    // Deleted first: they are in the order of the times.
    this.#seen.delete(chipid);
    this.#seen.set(chipid, at);
    const { store } = this.#deps;
    const written = Number(store.get(this.#prefix + chipid) ?? -Infinity);
    if (Math.abs(at - written) >= WRITE_TIMES) store.update(this.#prefix + chipid, at);
  }

  /** @returns false if there is no room, since all others were seen as late */
  #add(chipid: string, at: number): boolean {
    if (this.#seen.size >= MAX_SEEN) {
      const [oldest, before] = this.#seen.entries().next().value as [string, number];
      if (before >= at) return false;
      this.#forget(oldest);
    }
    this.#set(chipid, at);
    this.#deps.add(chipid);
    return true;
  }

  #forget(chipid: string): void {
    this.#seen.delete(chipid);
    this.#deps.store.update(this.#prefix + chipid, undefined);
    this.#deps.remove(chipid);
  }
}
