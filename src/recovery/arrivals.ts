import type { BodyKeys } from '../history/form';
import type { Upload } from '../types';

/** An upload that arrived live after the position. Unlike a record of the history, it has no id. */
export interface Arrival {
  readonly keys: BodyKeys;
  /** Unix time in milliseconds, by the service's clock; NaN if an earlier run received it. */
  readonly timestamp: number;
  /** Held back, not emitted yet. */
  held: Upload | undefined;
  /** It may be the late announcement of an upload that has been recovered already: then it is not emitted. */
  isDoubtful: boolean;
  /** A reading should have contained it and did not: the history may lag behind. */
  isLate: boolean;
  /** The same, and it has been counted among those that the history does not have. */
  isCounted: boolean;
}

/** The uploads of one device that arrived live since the position, oldest first. */
export class Arrivals {
  #entries: Arrival[] = [];
  /** How many arrived before the history was requested: its answer must contain them. */
  #sure = 0;
  #held = 0;
  /** Something may have been missed since the history was requested. */
  #gapped = false;

  /** @param saved arrivals of an earlier run */
  constructor(saved: readonly BodyKeys[] = []) {
    for (const keys of saved) this.add(keys, NaN);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** How many have been emitted. */
  get emitted(): number {
    return this.#entries.length - this.#held;
  }

  /** Those that arrived before the history was requested: it must contain them, unless it lags behind. */
  get sure(): readonly Arrival[] {
    return this.#entries.slice(0, this.#sure);
  }

  /** Those that arrived since then: it may contain the first of them. */
  get open(): readonly Arrival[] {
    return this.#entries.slice(this.#sure);
  }

  /** How many the history is expected to contain. */
  get expected(): number {
    return this.sure.reduce(
      (sum, { isLate, isDoubtful }) => sum + Number(!isLate && !isDoubtful),
      0,
    );
  }

  /** Whether something may have been missed since the history was requested. */
  get isGapped(): boolean {
    return this.#gapped;
  }

  /** @param held the upload itself if it is held back */
  add(keys: BodyKeys, timestamp: number, held?: Upload, isDoubtful = false): void {
    this.#entries.push({ keys, timestamp, held, isDoubtful, isLate: false, isCounted: false });
    if (held) this.#held++;
  }

  /** There may be a gap before whatever arrives from now on. */
  gap(): void {
    this.#gapped = true;
  }

  /** The history is being requested. */
  mark(): void {
    this.#sure = this.size;
    this.#gapped = false;
  }

  /** Forgets all of them: the position will be after them. */
  clear(): void {
    this.#entries = [];
    this.#sure = 0;
    this.#held = 0;
  }

  /** Forgets what is held back, since the history contains it. @returns whether anything was held back */
  drop(): boolean {
    if (this.#held === 0) return false;
    this.#keep(({ held }) => !held);
    return true;
  }

  /**
   * Returns what is held back, to be emitted after all. The history still has to show whether doubtful ones were
   * uploaded: it brings them back.
   */
  release(): Upload[] {
    if (this.#held === 0) return [];
    this.#keep(({ held, isDoubtful }) => !(held && isDoubtful));
    const held = this.#entries.flatMap((entry) => entry.held ?? []);
    for (const entry of this.#entries) entry.held = undefined;
    return held;
  }

  /** All keys of those that have been emitted. */
  emittedKeys(): BodyKeys[] {
    return this.#entries.filter(({ held }) => !held).map(({ keys }) => keys);
  }

  /** The keys of the newest one that has been emitted. */
  newestEmitted(): BodyKeys | undefined {
    return this.#entries.findLast(({ held }) => !held)?.keys;
  }

  /**
   * The history should contain those that are sure, and does not: it may lag behind, so it is looked for them once more.
   * Those that were in doubt were announced twice. @returns how many are left to look for
   */
  markLate(): number {
    const forgotten = this.sure.filter(
      ({ isLate, held, isDoubtful }) => (isLate && !held) || isDoubtful,
    );
    this.remove(new Set(forgotten));
    for (const entry of this.sure) entry.isLate = true;
    return this.#sure;
  }

  /** Removes those that the history contains. */
  remove(found: ReadonlySet<Arrival>): void {
    if (found.size === 0) return;
    this.#keep((entry) => !found.has(entry));
    this.#held = this.#entries.reduce((count, { held }) => count + Number(held !== undefined), 0);
  }

  #keep(isKept: (entry: Arrival) => boolean): void {
    const sure = this.#entries.slice(0, this.#sure).filter(isKept);
    this.#entries = [...sure, ...this.#entries.slice(this.#sure).filter(isKept)];
    this.#sure = sure.length;
    this.#held = 0;
  }
}
