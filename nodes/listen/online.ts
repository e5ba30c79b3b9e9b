import type { ListReading } from '../../src/for-nodes';
import { parseChipid } from '../../src/input';
import type { Kept } from '../common/kept';
import { isObject } from '../common/shared.config';

/** Devices that are listened to at most, and for how long after they were last seen online. */
const MAX_SEEN = 10_000;
const MAX_AGE = 30 * 24 * 3600_000;

/** Milliseconds after which new times are written, even if the devices are the same. */
const WRITE_TIMES = 3600_000;

interface OnlineDeps {
  /** The devices of another application are not this one's. */
  appid: string;
  /** Where the devices are kept over a restart. Those that are listed are listened to before that is known. */
  kept: Promise<Kept>;
  /** Whether they are kept has changed. */
  onProblem: () => void;
  add: (chipid: string) => void;
  remove: (chipid: string) => void;
  /** Is called for each reading or write that the store refused. */
  failed: (error: unknown) => void;
  /** The list has more devices than can be listened to. */
  full: (max: number) => void;
  now?: () => number;
}

/**
 * The devices that were seen online, each for 30 days after the last time: a device that sleeps is heard the moment it
 * wakes, and not with the next reading of the list.
 */
export class OnlineDevices {
  readonly #now: () => number;
  /** When each was last seen, in ms; the longest ago comes first. */
  readonly #seen = new Map<string, number>();
  readonly #closing = new AbortController();
  /** Undefined until what was kept has been read: before that, a write would lose it. */
  #kept: Kept | undefined;
  readonly #snapshot = (): object => ({
    appid: this.#deps.appid,
    seen: [...this.#seen],
  });
  #isChanged = false;
  #writtenAt = 0;
  readonly #deps: OnlineDeps;

  constructor(deps: OnlineDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
  }

  /** Why they do not survive a restart; undefined if they do. */
  get problem(): string | undefined {
    return this.#kept?.problem;
  }

  /** Listens to the devices that were kept. Retries until the store answers; never rejects. */
  async restore(): Promise<void> {
    const { failed, onProblem } = this.#deps;
    const { signal } = this.#closing;
    try {
      const kept = await this.#deps.kept;
      kept.onProblem(onProblem);
      const saved = await kept.readSurely(failed, signal);
      if (signal.aborted) return;
      this.#kept = kept;
      this.#apply(saved);
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  /** The list has been read: listens to its devices, and no longer to those that were not seen for 30 days. */
  onReading({ devices }: Pick<ListReading, 'devices'>): void {
    const now = this.#now();
    const added: string[] = [];
    // Those that are known are seen first: a list that is too long must not push them out, one after another.
    for (const chipid of devices.keys()) if (!this.seen(chipid)) added.push(chipid);
    for (const chipid of added) {
      if (this.#add(chipid, now)) continue;
      this.#deps.full(MAX_SEEN);
      break;
    }
    this.#forgetBefore(now - MAX_AGE);
    if (this.#isChanged || now - this.#writtenAt >= WRITE_TIMES) this.#write();
  }

  /** A device is online: it is listed, or has just uploaded. @returns whether it is known */
  seen(chipid: string): boolean {
    // Deleted first: they are in the order of the times.
    if (!this.#seen.delete(chipid)) return false;
    this.#seen.set(chipid, this.#now());
    return true;
  }

  close(): void {
    this.#closing.abort();
  }

  /** @param at when it was seen. @returns false if there is no room, since all others were seen later */
  #add(chipid: string, at: number): boolean {
    if (this.#seen.size >= MAX_SEEN) {
      const [oldest, before] = this.#seen.entries().next().value as [string, number];
      if (before >= at) return false;
      this.#forget(oldest);
    }
    this.#seen.set(chipid, at);
    this.#isChanged = true;
    this.#deps.add(chipid);
    return true;
  }

  #forget(chipid: string): void {
    this.#seen.delete(chipid);
    this.#isChanged = true;
    this.#deps.remove(chipid);
  }

  #forgetBefore(time: number): void {
    for (const [chipid, at] of this.#seen) {
      if (at >= time) return;
      this.#forget(chipid);
    }
  }

  #apply(saved: unknown): void {
    const { appid } = this.#deps;
    const now = this.#now();
    // What was seen since the start is newer.
    const since = [...this.#seen];
    this.#seen.clear();
    for (const [chipid, at] of readSeen(saved, appid, now)) this.#seen.set(chipid, at);
    const kept = [...this.#seen.keys()];
    for (const [chipid, at] of since) {
      this.#seen.delete(chipid);
      this.#seen.set(chipid, at);
    }
    for (const chipid of kept) this.#deps.add(chipid);
    while (this.#seen.size > MAX_SEEN) this.#forget(this.#seen.keys().next().value as string);
    if (since.length > 0) this.#write();
    if (this.problem) this.#deps.onProblem();
  }

  #write(): void {
    if (!this.#kept) return;
    this.#isChanged = false;
    this.#writtenAt = this.#now();
    this.#kept.write(this.#snapshot);
  }
}

/** Reads what was kept, the oldest first, without invalid entries: it may have been edited. */
function readSeen(saved: unknown, appid: string, now: number): [chipid: string, at: number][] {
  if (!isObject(saved) || saved['appid'] !== appid || !Array.isArray(saved['seen'])) return [];
  const read = (saved['seen'] as unknown[]).flatMap((each): [string, number][] => {
    try {
      const [chipid, at] = each as [unknown, unknown];
      if (typeof at !== 'number' || !(at >= now - MAX_AGE)) return [];
      // A clock that was ahead must not keep a device for longer.
      return [[parseChipid(chipid), Math.min(at, now)]];
    } catch {
      return [];
    }
  });
  return read.sort(([, a], [, b]) => a - b).slice(-MAX_SEEN);
}
