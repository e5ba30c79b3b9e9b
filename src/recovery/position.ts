import { type BodyKeys, FORMS, type HistoryForm, splitKeys } from '../history/form';
import { type RecordId, idFromText } from '../history/record';
import { WIDEST } from '../history/zone';
import { invalidInput } from '../errors';
import { isObject } from '../util/object';
import type { Upload } from '../types';
import { isEdge, type Edge } from './ids';

/** How many bytes the answer of a history had when its newest record had this id. */
export interface Measure {
  id: string;
  bytes: number;
}

/** How far the uploads of a device have been emitted; small enough to be saved with each one. */
export interface Position {
  /** Newest history id known to be emitted. */
  id: string;
  /** How many were emitted live after it, whose ids are not known. */
  live: number;
  /** Keys of the last one of those. */
  last?: string;
  /** The keys of those that followed, as long as something may have been missed before them. */
  keys?: string[];
  /** Some records of the history, to recognise it if its ids start over. */
  edge?: Edge;
  /** How many bytes the history had up to an id, if it says so; a number: up to `id`. */
  measure?: Measure | number;
  /** How the history writes bodies, if that has been learned. */
  form?: HistoryForm;
  /** The time zone of the history in milliseconds ahead of UTC, if that has been learned. */
  zone?: number;
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const isMeasure = (value: unknown): boolean =>
  Number.isSafeInteger(value) ||
  (isObject(value) &&
    /^\d{1,20}$/.test(String(value['id'])) &&
    Number.isSafeInteger(value['bytes']));

const measureOf = ({ id, measure }: Position): Measure | undefined =>
  typeof measure === 'number' ? { id, bytes: measure } : measure;

/** Whether a value is a position: it may have been saved by an older version, or be anything. */
export function isPosition(value: unknown): value is Position {
  if (!isObject(value)) return false;
  const { id, live, last = '', keys = [], edge, measure, form = 'text', zone = 0 } = value;
  return (
    typeof id === 'string' &&
    /^(-1|\d{1,20})$/.test(id) &&
    Number.isSafeInteger(live) &&
    Number(live) >= 0 &&
    typeof last === 'string' &&
    isTexts(keys) &&
    (edge === undefined || isEdge(edge)) &&
    (measure === undefined || isMeasure(measure)) &&
    FORMS.some((known) => known === form) &&
    Number.isSafeInteger(zone) &&
    Math.abs(Number(zone)) <= WIDEST
  );
}

/** Checks the `start` of a listener. @throws DeviceCloudError `INVALID_INPUT` */
export function checkStart(start: unknown): void {
  if (start === undefined || start === null || isPosition(start)) return;
  throw invalidInput(
    'The start of a listener must be a position as it was given to save, unchanged; leave it out to ' +
      'recover only later uploads.',
  );
}

/** An upload that arrived live after the position. Unlike a record of the history, it has no id. */
export interface Arrival {
  readonly keys: BodyKeys;
  /** Unix time in milliseconds, by the service's clock; NaN if an earlier run received it. */
  readonly timestamp: number;
  /** Something may have been missed right before it. */
  readonly isAfterGap: boolean;
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
  /** Something may have been missed since the newest one. */
  #isAfterGap = true;

  /** @param saved arrivals of an earlier run */
  constructor(saved: readonly BodyKeys[] = []) {
    for (const keys of saved) {
      this.add(keys, NaN);
      this.#isAfterGap = true;
    }
  }

  get size(): number {
    return this.#entries.length;
  }

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

  /** Whether any is in doubt. */
  get hasDoubtful(): boolean {
    return this.#held > 0 && this.#entries.some(({ isDoubtful }) => isDoubtful);
  }

  /** Whether something may have been missed since the history was requested. */
  get isGapped(): boolean {
    return this.#gapped;
  }

  /** @param held the upload itself if it is held back */
  add(keys: BodyKeys, timestamp: number, held?: Upload, isDoubtful = false): void {
    const isAfterGap = this.#isAfterGap;
    this.#isAfterGap = false;
    // Literally: spreading costs a microsecond.
    this.#entries.push({
      keys,
      timestamp,
      isAfterGap,
      held,
      isDoubtful,
      isLate: false,
      isCounted: false,
    });
    if (held) this.#held++;
  }

  /** There may be a gap before whatever arrives from now on. */
  gap(): void {
    this.#gapped = true;
    this.#isAfterGap = true;
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

  /** Returns what makes the keys of those that have been emitted by now: there may be thousands. */
  emittedKeys(): () => BodyKeys[] {
    const { size } = this;
    // Unless something is held back, and may be released, entries are only added: the rest makes another list.
    const entries =
      this.#held === 0 ? this.#entries : this.#entries.filter(({ held }) => held === undefined);
    return () => entries.slice(0, size).map(({ keys }) => keys);
  }

  /** The keys of the newest upload that has been emitted. */
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

/** What has been emitted of one device: up to which record of the history, and what arrived live after it. */
export class Progress {
  id: RecordId | undefined;
  edge: Edge | undefined;
  measure: Measure | undefined;
  readonly arrivals: Arrivals;
  /** How many records after the position an earlier run has emitted. */
  skip: number;
  /** The keys of the last one of those. */
  last: BodyKeys | undefined;
  /** Something may have been missed since the position. */
  isGapped = true;
  /** Something may have been missed before an arrival, so a number alone would not show which have been emitted. */
  #unsure: boolean;

  constructor(start?: Position) {
    this.id = start && idFromText(start.id);
    this.edge = start?.edge;
    this.measure = start && measureOf(start);
    this.skip = start?.live ?? 0;
    this.last = start?.last === undefined ? undefined : splitKeys(start.last);
    this.arrivals = new Arrivals(start?.keys?.map(splitKeys));
    this.#unsure = this.arrivals.size > 0;
  }

  get hasPosition(): boolean {
    return this.id !== undefined;
  }

  /** Whether, as far as is known, no upload so far can turn out to have been missed. */
  get isComplete(): boolean {
    return this.hasPosition && !this.isGapped;
  }

  /** There may be a gap before whatever arrives from now on. */
  gap(): void {
    this.arrivals.gap();
    this.#unsure = true;
    this.isGapped = true;
  }

  /** Forgets what is held back, since the history contains it. */
  drop(): void {
    if (this.arrivals.drop()) this.isGapped = true;
  }

  /**
   * Everything up to a record has been emitted.
   * @param isUnsure whether something may have been missed before an arrival that is left
   */
  moveTo(
    id: RecordId,
    edge: Edge | undefined,
    isUnsure: boolean,
    measure: Measure | undefined = this.measure,
  ): void {
    this.id = id;
    this.edge = edge;
    this.measure = measure;
    this.skip = 0;
    this.last = undefined;
    this.#unsure = isUnsure;
  }

  /**
   * Returns what makes the position up to which uploads have been emitted by now; undefined before the history was read for
   * the first time. This runs with every upload, while hashes and texts are needed only where it is saved.
   * @param form how the history writes bodies, if that is known
   * @param zone the time zone of the history, if that is known
   */
  position(form?: HistoryForm, zone?: number): (() => Position) | undefined {
    const { id, edge, measure, arrivals } = this;
    if (id === undefined) return undefined;
    const isUnsure = this.#unsure;
    const live = isUnsure ? this.skip : this.skip + arrivals.emitted;
    const last = (isUnsure ? undefined : arrivals.newestEmitted()) ?? this.last;
    const keys = isUnsure ? arrivals.emittedKeys() : undefined;
    return () => {
      const position: Position = { id: String(id), live };
      if (last) position.last = last.join();
      if (keys) position.keys = keys().map((each) => each.join());
      if (edge) position.edge = edge;
      if (measure) position.measure = measure.id === position.id ? measure.bytes : measure;
      if (form) position.form = form;
      if (zone !== undefined) position.zone = zone;
      return position;
    };
  }
}

/** The factor by which a long history is read less often at most: each reading fetches all of it. */
const DEEP = 10;
/** The factor by which it is read more often while all devices together remember too many arrivals. */
const EARLY = 8;

/**
 * Decides after how many arrivals the history of a device is read to advance its position: after half as many as
 * the history holds, so that whatever is missed until then fits into the other half.
 */
export class Checkpoint {
  #usual: number;
  /** Half the length of a history that no longer reached back to the position. */
  #reach = Infinity;
  readonly #least: number;

  /** @param least number of arrivals, unless the history turns out to be shorter */
  constructor(least: number) {
    this.#least = least;
    this.#usual = least;
  }

  /** With more arrivals than this, all that is known of the device is forgotten if memory runs out. */
  get most(): number {
    return Math.min(this.#usual, this.#least);
  }

  /** @param isPressed whether all devices together remember nearly as much as they may */
  due(isPressed: boolean): number {
    return isPressed ? Math.min(this.#usual, this.#least / EARLY) : this.#usual;
  }

  /**
   * A history has been read.
   * @param isTruncated whether it no longer reached back to the position
   */
  read(records: number, isTruncated: boolean): void {
    const half = Math.ceil(records / 2);
    if (isTruncated) this.#reach = Math.min(this.#reach, half);
    this.#usual = Math.min(this.#reach, Math.max(this.#least, Math.min(half, DEEP * this.#least)));
  }
}
