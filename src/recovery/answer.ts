import { chipidOf } from '../protocol/values';
import type { ServiceInteger } from '../types';
import { isObject } from '../util/json';
import type { Budget } from './limits';
import { recordHashes, type RecordHashes } from './writing';
import { QUARTER, timeOf, WIDEST } from './zone';

/**
 * An id of a history: a number, or a bigint where a number would lose digits. Always the one or the other, so that ids
 * can be compared with any operator; numbers are several times as fast.
 */
export type RecordId = number | bigint;

/** The position before all records. */
export const BEFORE_ALL: RecordId = -1;

/** By how much an id is lower than another. */
export const apart = (id: RecordId, than: RecordId): number => Number(BigInt(than) - BigInt(id));

/** Longer ids are rejected: no counter gets so far, and all later uploads would be sorted before such a record. */
const MAX_DIGITS = 20;
const DIGITS = /^\d+$/;

/** Reads an id from the text of an integer. */
export function idFromText(digits: string): RecordId {
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : BigInt(digits);
}

/** @returns undefined unless it is a safe integer from 0, or up to 20 digits */
function idOf(id: unknown): RecordId | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) && id >= 0 ? id : undefined;
  if (typeof id !== 'string' || id.length > MAX_DIGITS || !DIGITS.test(id)) return undefined;
  return idFromText(id);
}

/** Whether `dev` of a record (section 2.3) is the number of another device, in any notation. */
const isOfAnother = (dev: unknown, chipid: string): boolean =>
  dev !== chipid && (chipidOf(dev) ?? chipid) !== chipid;

/** A record of a device's history of uploads (section 2.3). It is hashed only if there is something to compare it with. */
export class HistoryRecord {
  #hashes: RecordHashes | undefined;

  /**
   * @param written its id as the service writes it
   * @param body undefined if it cannot be read: the record may be any upload
   * @param time `create_time` in milliseconds since 1970 if it is of UTC; NaN without one
   */
  constructor(
    readonly id: RecordId,
    readonly written: ServiceInteger,
    readonly body: string | undefined,
    readonly time: number,
  ) {}

  /** Reads a record. @returns its fault, as a text for the log, if it cannot be used */
  static read(item: unknown, chipid: string): HistoryRecord | string {
    if (!isObject(item)) return 'it is not an object';
    const id = idOf(item['id']);
    if (id === undefined) return 'its id is not a number of at most 20 digits';
    if (isOfAnother(item['dev'], chipid)) return 'it belongs to another device';
    const body = typeof item['body'] === 'string' ? item['body'] : undefined;
    return new HistoryRecord(id, item['id'] as ServiceInteger, body, timeOf(item['create_time']));
  }

  get hashes(): RecordHashes | undefined {
    if (this.body === undefined) return undefined;
    return (this.#hashes ??= recordHashes(this.body));
  }

  /** The same as a list. */
  get everyHash(): readonly number[] {
    if (!this.hashes) return [];
    const { whole, bare, decoded = whole } = this.hashes;
    return [whole, bare, decoded];
  }
}

/** How many of the newest records are remembered, to see whether ids start again (rule 20). */
export const REMEMBERED = 3;
/** Roughly the bytes of memory that a record needs in addition to its body. */
const OVERHEAD = 256;
/** Bytes of an answer that no record is short enough to fit into. */
const LESS_THAN_A_RECORD = 32;

/** How many bytes the answer of a history had when its newest record had this id. */
export interface Measure {
  id: RecordId;
  bytes: number;
}

/** A record that is remembered: its time in milliseconds since 1970 if it is of UTC; NaN without one. */
export type Seen = readonly [id: RecordId, time: number];

/** What earlier answers have shown of a history. */
export interface Shown {
  /** The newest records, newest first. */
  seen: readonly Seen[];
  measure: Measure | undefined;
  /** Since ids have started over, only records with a later time count, until there is one. */
  afterTime: number | undefined;
  /** The latest text that came both ways was in it as it was. */
  isPlain: boolean;
  /** Among texts, what is no text is in Base64. */
  isMixed: boolean;
  /** Times are not in the order of ids. */
  isUnordered: boolean;
  /** An upload was not there yet although it had arrived. */
  isLagging: boolean;
}

/** What an answer is read for. */
export interface Sought {
  chipid: string;
  /** The position; undefined for a first reading. */
  after: RecordId | undefined;
  shown: Readonly<Shown>;
  /** How many records after the position there are at least. */
  expected: number;
  /** Whether the answer may be ended early although its length is not announced. */
  mayEnd: boolean;
  /** How many old records in a row end it. */
  margin: number;
  budget: Budget;
}

const byId = (a: HistoryRecord, b: HistoryRecord): number =>
  a.id < b.id ? -1 : a.id > b.id ? 1 : 0;

/** What is kept of a history while it is read, however long it is: the records after the position, in any order. */
export class HistoryAnswer {
  /** What is wrong with records that were left out, as texts for the log. */
  readonly faults = new Set<string>();
  /** How many records there were; fewer than the history has if its answer was ended. */
  length = 0;
  /** Their bytes, about, if the answer has no length. */
  bytes = 0;
  isEnded = false;
  /** Records from this id on were left out, since there is no room for them (rule 21). */
  cutAt: RecordId = Infinity;
  newest: RecordId = BEFORE_ALL;
  /** There is a record up to the position. */
  hasOld = false;
  /** Times are not in the order of ids: some clock is wrong, or the device has kept uploads. */
  isMixed = false;
  /** Bodies of a first reading, for a guess. */
  readonly sample: string[] = [];
  records: HistoryRecord[] = [];
  readonly sought: Sought;
  /** The newest records up to the position. */
  #seen: HistoryRecord[] = [];
  readonly #remembered: ReadonlyMap<RecordId, number>;
  /** By how much the times of remembered records differ from what they were, in milliseconds. */
  readonly #shifts: number[] = [];
  #announced = Infinity;
  #newBytes = 0;
  #weight = 0;
  /** Old records in a row, up to now. */
  #old = 0;
  #first: HistoryRecord | undefined;
  #last: HistoryRecord | undefined;
  #mayDescend = true;

  constructor(sought: Sought) {
    this.sought = sought;
    this.#remembered = new Map(sought.shown.seen);
  }

  /**
   * Takes the next record.
   * @param size bytes that it adds to the answer @param announced bytes of the answer
   * @returns false if no more are needed (rule 22)
   */
  take(item: unknown, size?: number, announced = Infinity): boolean {
    this.length++;
    this.#announced = announced;
    const record = HistoryRecord.read(item, this.sought.chipid);
    if (typeof record === 'string') {
      this.faults.add(record);
      return true;
    }
    if (record.body === undefined) this.faults.add('its body is not text');
    const bytes = size ?? (record.body ?? '').length + OVERHEAD / 4;
    this.bytes += bytes;
    this.#order(record);
    if (record.id > this.newest) this.newest = record.id;
    const { after = Infinity, shown } = this.sought;
    const { measure, afterTime } = shown;
    if (record.id > (measure?.id ?? BEFORE_ALL)) this.#newBytes += bytes;
    this.#recognise(record);
    if (record.id > after && (afterTime === undefined || record.time > afterTime)) {
      this.#old = 0;
      this.#takeNew(record);
    } else {
      this.#old++;
      this.hasOld = true;
      this.#remember(record);
    }
    this.isEnded = this.#isPast();
    return !this.isEnded;
  }

  /** All records are there, or enough of them: they are put in order, each id once. */
  end(): void {
    const { records } = this;
    let count = 0;
    for (const record of records.sort(byId)) {
      const earlier = records[count - 1];
      if (record.id >= this.cutAt) break;
      if (earlier?.id !== record.id) records[count++] = record;
      // Of several with one id, the first that can be read is kept: each id is one upload.
      else if (earlier.body === undefined) records[count - 1] = record;
      else if (record.body !== undefined && record.body !== earlier.body)
        this.faults.add('its id is that of another record');
    }
    records.length = count;
  }

  /** There was no room for all records. */
  get isCut(): boolean {
    return this.cutAt < Infinity;
  }

  /** Why no record can be used, as text for the log; undefined if a record can be used, or if there are no records. */
  get uselessSince(): string | undefined {
    const [fault] = this.faults;
    return this.newest === BEFORE_ALL ? fault : undefined;
  }

  /** Ids have started over: rule 20. If all times are shifted alike, the history has another zone now. */
  get isRestarted(): boolean {
    const { after, shown } = this.sought;
    if (after === undefined || after < 0 || this.length === 0 || shown.seen.length === 0)
      return false;
    const [first = NaN] = this.#shifts;
    if (this.#shifts.length === 0) return this.newest < after;
    const isZone = first % QUARTER === 0 && Math.abs(first) <= 2 * WIDEST;
    return !isZone || this.#shifts.some((shift) => shift !== first);
  }

  /** Bytes by which the history has grown since it was measured, less those of the new records: still to come. */
  get #missing(): number | undefined {
    const { measure } = this.sought.shown;
    if (!measure || this.#announced === Infinity) return undefined;
    const missing = this.#announced - measure.bytes - this.#newBytes;
    // Old records are gone, so that it shows nothing.
    return missing <= -LESS_THAN_A_RECORD ? undefined : missing;
  }

  /** The announced length, to be compared with that of a later answer. */
  get measure(): Measure | undefined {
    if (this.#announced === Infinity || this.isCut) return this.sought.shown.measure;
    return { id: this.newest, bytes: this.#announced };
  }

  /** The newest records up to an id, newest first. All are in order by now. */
  seenUpTo(id: RecordId): Seen[] {
    const end = this.records.findLastIndex((record) => record.id <= id) + 1;
    const newest = [...this.#seen, ...this.records.slice(Math.max(0, end - REMEMBERED), end)];
    const known = newest.filter((record) => record.id <= id).sort((a, b) => byId(b, a));
    return known.slice(0, REMEMBERED).map(({ id: each, time }) => [each, time] as const);
  }

  release(): void {
    this.sought.budget.release(this.#weight);
    this.#weight = 0;
    this.records = [];
  }

  #remember(record: HistoryRecord): void {
    if (this.sample.length < 100 && record.body !== undefined) this.sample.push(record.body);
    let place = this.#seen.length;
    while (place > 0 && record.id > (this.#seen[place - 1] as HistoryRecord).id) place--;
    if (place === REMEMBERED) return;
    this.#seen.splice(place, 0, record);
    if (this.#seen.length > REMEMBERED) this.#seen.pop();
  }

  #recognise(record: HistoryRecord): void {
    const remembered = this.#remembered.get(record.id);
    if (remembered === undefined) return;
    const { time } = record;
    this.#shifts.push(Object.is(time, remembered) ? 0 : time - remembered);
  }

  #order(record: HistoryRecord): void {
    const last = this.#last;
    this.#first ??= record;
    this.#last = record;
    if (!last) return;
    // Within a second, any order is possible.
    if (!(record.time <= last.time)) this.#mayDescend = false;
    const later = record.time - last.time;
    if ((later > 0 && record.id < last.id) || (later < 0 && record.id > last.id))
      this.isMixed = true;
  }

  /** Whether more new records are unlikely: rule 22. */
  #isPast(): boolean {
    const { after, margin, expected, mayEnd, shown } = this.sought;
    const first = this.#first;
    const isDescending = this.#mayDescend && (this.#last?.time ?? NaN) < (first?.time ?? NaN);
    if (!isDescending) return false;
    if (after === undefined) return this.length >= margin + 2 * expected;
    if (this.#old < margin) return false;
    const missing = this.#missing;
    if (missing !== undefined) return missing < LESS_THAN_A_RECORD;
    return mayEnd && !shown.isUnordered && !this.isMixed && this.records.length >= expected;
  }

  /** At most all that there is: a record that is larger waits until it is the only one. */
  #weigh({ body = '' }: HistoryRecord): number {
    return Math.min(this.sought.budget.limit, body.length + OVERHEAD);
  }

  #keep(record: HistoryRecord): boolean {
    const weight = this.#weigh(record);
    if (!this.sought.budget.reserve(weight)) return false;
    this.#weight += weight;
    this.records.push(record);
    return true;
  }

  /** If there is no room for all, those with the lowest ids are kept, and the others are left to another reading: rule 21. */
  #takeNew(record: HistoryRecord): void {
    if (record.id >= this.cutAt || this.#keep(record)) return;
    const kept = this.records.sort(byId);
    if (record.id <= (kept.at(-1)?.id ?? BEFORE_ALL)) {
      const left = kept.splice(kept.length >> 1);
      const weight = left.reduce((sum, each) => sum + this.#weigh(each), 0);
      this.sought.budget.release(weight);
      this.#weight -= weight;
      this.cutAt = (left[0] as HistoryRecord).id;
      if (record.id >= this.cutAt || this.#keep(record)) return;
    }
    this.cutAt = record.id;
  }
}
