import { FORMS, joinKeys, splitKeys, type BodyKeys, type HistoryForm } from '../history/form';
import { idFromText, type RecordId } from '../history/record';
import { WIDEST } from '../history/zone';
import { invalidInput } from '../errors';
import { isObject } from '../util/object';
import type { Upload } from '../types';
import { Arrivals } from './arrivals';
import type { Edge } from './ids';

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
  /** How the history writes bodies, if that has been learned. */
  form?: HistoryForm;
  /** The time zone of the history in milliseconds ahead of UTC, if that has been learned. */
  zone?: number;
}

const isTexts = (value: unknown, form = /^/): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && form.test(item));

const isEdge = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['time'] === 'string' &&
  typeof (value['until'] ?? '') === 'string' &&
  isTexts(value['seen'], /^\d{1,20} \S+$/);

/** Whether a value is a position: it may have been saved by an older version, or be anything. */
export function isPosition(value: unknown): value is Position {
  if (!isObject(value)) return false;
  const { id, live, last = '', keys = [], edge, form = 'text', zone = 0 } = value;
  return (
    typeof id === 'string' &&
    /^(-1|\d{1,20})$/.test(id) &&
    Number.isSafeInteger(live) &&
    Number(live) >= 0 &&
    typeof last === 'string' &&
    isTexts(keys) &&
    (edge === undefined || isEdge(edge)) &&
    FORMS.some((known) => known === form) &&
    Number.isSafeInteger(zone) &&
    Math.abs(Number(zone)) <= WIDEST
  );
}

/**
 * Checks the `start` of a listener.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function checkStart(start: unknown): void {
  if (start === undefined || start === null || isPosition(start)) return;
  throw invalidInput(
    'The start of a listener must be a position as it was given to save, unchanged; leave it out to ' +
      'recover only later uploads.',
  );
}

/** What has been emitted of one device: up to which record of the history, and what arrived live after it. */
export class Progress {
  id: RecordId | undefined;
  edge: Edge | undefined;
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
    // One without `until` was made by another rule, and would not recognise anything.
    this.edge = start?.edge?.until === undefined ? undefined : start.edge;
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

  add(keys: BodyKeys, timestamp: number, held?: Upload, isDoubtful = false): void {
    this.arrivals.add(keys, timestamp, held, isDoubtful);
  }

  /** Forgets what is held back, since the history contains it. */
  drop(): void {
    if (this.arrivals.drop()) this.isGapped = true;
  }

  /**
   * Everything up to a record has been emitted.
   * @param isUnsure whether something may have been missed before an arrival that is left
   */
  moveTo(id: RecordId, edge: Edge | undefined, isUnsure: boolean): void {
    this.id = id;
    this.edge = edge;
    this.skip = 0;
    this.last = undefined;
    this.#unsure = isUnsure;
  }

  /** How far the uploads have been emitted; undefined before the history was read for the first time. */
  position(): Position | undefined {
    const { id, skip, last, edge, arrivals } = this;
    if (id === undefined) return undefined;
    const position: Position = { id: String(id), live: skip };
    if (edge) position.edge = edge;
    if (this.#unsure) {
      if (last !== undefined) position.last = joinKeys(last);
      position.keys = arrivals.emittedKeys().map(joinKeys);
      return position;
    }
    // This runs with every upload: the arrivals are counted already, and the newest is the last.
    position.live += arrivals.emitted;
    const newest = arrivals.newestEmitted() ?? last;
    if (newest !== undefined) position.last = joinKeys(newest);
    return position;
  }
}
