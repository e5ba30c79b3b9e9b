import {
  BEFORE_ALL,
  HistoryRecord,
  idFromText,
  NewestFirst,
  type RecordId,
  type RecordOrigin,
} from '../history/record';
import { fromUnix } from '../history/zone';
import { EdgeMemory, edgeOf, type Edge, type Since } from './ids';
import type { Budget } from './options';
import type { Measure } from './position';

/** Roughly the bytes of memory that a record or an upload needs in addition to its body. */
export const OVERHEAD = 256;

/** How many records in a row must be old ones before the answer of a history that begins with the newest is ended. */
const MARGIN = 200;
/** Bytes of an answer that no record is short enough to fit into. */
const LESS_THAN_A_RECORD = 32;
/** How many records up to the position are kept, since they may be new ones under ids that were used before. */
const MOST_ODD = 1000;
/** Of a history that is read for the first time, how many of the newest records are kept. */
const NEWEST = 1000;
const NEWEST_BYTES = 2 * 1024 * 1024;
/** More than zones and clocks differ by, in milliseconds. */
const DAY = 24 * 60 * 60 * 1000;

const byId = (a: HistoryRecord, b: HistoryRecord): number =>
  a.id < b.id ? -1 : a.id > b.id ? 1 : 0;

/** The position up to which uploads have been emitted. */
export interface Known {
  id: RecordId;
  edge: Edge | undefined;
  measure: Measure | undefined;
}

/**
 * What is kept of a history while it is read, however long it is: what lies after the position, and what shows whether
 * ids have started over. The records may come in any order.
 */
export class HistoryAnswer {
  /** What is wrong with records that were left out, as texts for the log. */
  readonly faults = new Set<string>();
  /** How many records there were; fewer than the history has if its answer was ended. */
  length = 0;
  /** Records from this id on were left out, since there is no room for them. */
  cutAt: RecordId | undefined;
  readonly #memory: EdgeMemory | undefined;
  readonly #measuredTo: RecordId | undefined;
  /** The announced length of the answer in bytes; infinite if there is none. */
  #bytes = Infinity;
  /** The bytes of the records that the history did not have when it was measured. */
  #newBytes = 0;
  /** A new record came after an older one. */
  #isMixed = false;
  #oldTime = '';
  /** Later times are ignored. */
  readonly until: string;
  readonly #order = new NewestFirst();
  #kept: HistoryRecord[] = [];
  /** How many records after the position have come. */
  #fresh = 0;
  #odd = 0;
  #oldest: HistoryRecord | undefined;
  #newestId = BEFORE_ALL;
  #latestTime = '';
  #hasOld = false;
  /** Some records were left out by which the history would be recognised later. */
  #isPartial = false;
  /** Old records in a row, up to now. */
  #old = 0;
  #weight = 0;
  #since: Since | undefined;
  readonly #origin: RecordOrigin;
  readonly #known: Known | undefined;
  readonly #expected: () => number;
  readonly #budget: Budget;
  readonly #keepsAll: boolean;

  /**
   * @param known undefined for a first reading
   * @param expected how many records after the position there are at least
   * @param keepsAll whether records up to the position are needed, since ids have started over
   */
  constructor(
    origin: RecordOrigin,
    known: Known | undefined,
    expected: () => number,
    budget: Budget,
    keepsAll: boolean,
  ) {
    this.#origin = origin;
    this.#known = known;
    this.#expected = expected;
    this.#budget = budget;
    this.#keepsAll = keepsAll;
    this.#memory = known?.edge && new EdgeMemory(known.edge);
    this.#measuredTo = known?.measure && idFromText(known.measure.id);
    this.until = fromUnix(origin.now + DAY, origin.zone);
  }

  /**
   * Takes the next record.
   * @param size bytes that it adds to the answer @param bytes of the answer
   * @returns false if no more are needed
   */
  take(item: unknown, size = 0, bytes = Infinity): boolean {
    this.length++;
    this.#bytes = bytes;
    const record = HistoryRecord.read(item, this.#origin.chipid, this.until);
    if (typeof record === 'string') {
      this.faults.add(record);
      return true;
    }
    if (record.body === undefined) this.faults.add('its body is not text');
    this.#order.add(record.time, record.id);
    if (record.time > this.#latestTime) this.#latestTime = record.time;
    if (record.id > this.#newestId) this.#newestId = record.id;
    if (!this.#oldest || record.id < this.#oldest.id) this.#oldest = record;
    if (this.#known) return this.#takeAfter(record, size, this.#known);
    this.#keepNewest(record);
    return !(this.#order.isSeen && this.length >= MARGIN + 2 * this.#expected());
  }

  /** Whether the ids have started over, so that the history has to be read once more to keep its old records. */
  get needsAll(): boolean {
    const [known, keepsAll] = [this.#known, this.#keepsAll];
    if (keepsAll || !known || this.length === 0) return false;
    return this.#newestId < known.id || (this.#odd > MOST_ODD && this.#compare().isRestored);
  }

  /**
   * Bytes that the history has grown by since it was measured, less the bytes of the new records that came so far: they are
   * still to come. What a device kept while it was away has high ids, but lies deep among old records. Undefined if the
   * history was not measured, or this answer has no length; negative if records are gone.
   */
  get #missing(): number | undefined {
    const measure = this.#known?.measure;
    if (!measure || this.#bytes === Infinity) return undefined;
    return this.#bytes - measure.bytes - this.#newBytes;
  }

  /** Whether, of an answer that was ended, everything new is known to have come. */
  get isComplete(): boolean {
    return Math.abs(this.#missing ?? Infinity) < LESS_THAN_A_RECORD;
  }

  /** To be compared with the length of a later answer. */
  get measure(): Measure | undefined {
    if (this.cutAt !== undefined) return this.#known?.measure;
    return this.#bytes === Infinity
      ? undefined
      : { id: String(this.#newestId), bytes: this.#bytes };
  }

  /** What was kept, by id, oldest first, each id once. */
  get records(): readonly HistoryRecord[] {
    return this.#kept;
  }

  /** What is to be remembered of the history, to recognise it later. */
  get edge(): Edge | undefined {
    const [oldest, kept] = [this.#oldest, this.#kept];
    if (this.#isPartial) return undefined;
    if (!oldest) return this.#known?.edge;
    const known = this.cutAt === undefined ? this.#latestTime : this.#known?.edge?.time;
    return edgeOf(kept[0]?.id === oldest.id ? kept : [oldest, ...kept], this.until, known);
  }

  /** All records are there, or enough of them. */
  end(): void {
    const { cutAt } = this;
    const kept: HistoryRecord[] = [];
    for (const record of this.#kept.sort(byId)) {
      const earlier = kept.at(-1);
      if (cutAt !== undefined && record.id >= cutAt) break;
      if (earlier?.id !== record.id) kept.push(record);
      // Of several with one id, the first that can be read is kept: each id is one upload.
      else if (earlier.body === undefined) kept[kept.length - 1] = record;
      else if (record.body !== undefined && record.body !== earlier.body)
        this.faults.add('its id is that of another record');
    }
    this.#kept = kept;
  }

  /** The records after the position; in a first reading, all that were kept. Ids increase, unless they start over. */
  since(): Since {
    return (this.#since ??= this.#compare());
  }

  #compare(): Since {
    const known = this.#known;
    const records = this.#kept;
    if (!known) return { fresh: [...records], isTruncated: false, isRestored: false };
    const newest = records.at(-1)?.id ?? BEFORE_ALL;
    if (records.length > 0 && newest < known.id) {
      // Without memory of the history, nothing shows which records are new.
      const nothing = { fresh: [], unknown: records.length };
      const { fresh, unknown } = this.#memory?.setBack(records) ?? nothing;
      if (fresh.length > 0) return { fresh: [...fresh], isTruncated: true, isRestored: true };
      return { fresh: [], isTruncated: false, isRestored: false, behind: unknown };
    }
    const again = this.#memory?.again(records, known.id) ?? new Set();
    const fresh = records.filter((record) => record.id > known.id || again.has(record));
    if (again.size > 0) return { fresh, isTruncated: true, isRestored: true };
    const isTruncated = known.id >= 0 && fresh.length > 0 && !this.#hasOld;
    return { fresh, isTruncated, isRestored: false };
  }

  release(): void {
    if (this.#known) this.#budget.release(this.#weight);
    this.#weight = 0;
    this.#kept = [];
  }

  #takeAfter(record: HistoryRecord, size: number, { id: position }: Known): boolean {
    if (this.#measuredTo !== undefined && record.id > this.#measuredTo) this.#newBytes += size;
    if (record.id > position) {
      this.#old = 0;
      this.#fresh++;
      if (record.time < this.#oldTime) this.#isMixed = true;
      this.#keep(record);
      return true;
    }
    this.#hasOld = true;
    this.#oldTime = record.time;
    this.#old++;
    if (this.#keepsAll) {
      this.#keep(record);
      return true;
    }
    const isOdd = this.#memory?.concerns(record) ?? true;
    if (isOdd && (++this.#odd > MOST_ODD || !this.#add(record))) this.#isPartial = true;
    // In this order, since this runs for each record.
    return !(this.#old >= MARGIN && this.#order.isSeen && this.#isPast());
  }

  /** Whether more new records are unlikely, as far as can be seen. */
  #isPast(): boolean {
    const missing = this.#missing;
    if (missing === undefined ? this.#isMixed : missing >= LESS_THAN_A_RECORD) return false;
    return this.#fresh >= this.#expected();
  }

  /** Keeps a record if there is room. What is missing then comes in another pass, after what was kept: in order. */
  #keep(record: HistoryRecord): void {
    const isLeft = this.cutAt !== undefined && record.id >= this.cutAt;
    if (!isLeft && !this.#add(record)) this.#cut(record);
  }

  /** @returns false if there is no room */
  #add(record: HistoryRecord): boolean {
    const weight = weighRecord(record, this.#budget);
    if (!this.#budget.reserve(weight)) return false;
    this.#weight += weight;
    this.#kept.push(record);
    return true;
  }

  /** Of a history that is read for the first time, only the newest records matter. */
  #keepNewest(record: HistoryRecord): void {
    this.#kept.push(record);
    this.#weight += weighRecord(record, this.#budget);
    if (this.#kept.length < 2 * NEWEST && this.#weight < 2 * NEWEST_BYTES) return;
    const newest = this.#kept.sort(byId).slice(-NEWEST);
    this.#weight = newest.reduce((sum, each) => sum + weighRecord(each, this.#budget), 0);
    while (newest.length > 1 && this.#weight > NEWEST_BYTES) {
      this.#weight -= weighRecord(newest.shift() as HistoryRecord, this.#budget);
      this.#isPartial = true;
    }
    this.#kept = newest;
  }

  /** Makes room for a record, or leaves it to another pass. */
  #cut(record: HistoryRecord): void {
    const kept = this.#kept.sort(byId);
    const position = this.#known?.id ?? BEFORE_ALL;
    const fresh = kept.findIndex(({ id }) => id > position);
    // What only shows whether ids have started over gives way to what has to be emitted.
    const odd = this.#keepsAll ? 0 : fresh < 0 ? kept.length : fresh;
    if (odd > 0) {
      this.#isPartial = true;
      for (const each of kept.splice(0, odd)) this.#free(each);
      this.#keep(record);
      return;
    }
    const newest = kept.at(-1);
    if (!newest || record.id > newest.id) this.cutAt = record.id;
    else {
      const newer = kept.splice(kept.length >> 1);
      for (const each of newer) this.#free(each);
      this.cutAt = newer[0]?.id ?? record.id;
      if (record.id < this.cutAt) this.#keep(record);
    }
  }

  #free(record: HistoryRecord): void {
    const weight = weighRecord(record, this.#budget);
    this.#budget.release(weight);
    this.#weight -= weight;
  }
}

/** At most all that there is: a record that is larger waits until it is the only one. */
const weighRecord = ({ body = '' }: HistoryRecord, { limit }: Budget): number =>
  Math.min(limit, body.length + OVERHEAD);
