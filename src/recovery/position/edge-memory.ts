import { decodeBase64 } from '../../util/base64';
import {
  bodyOf,
  hash,
  latestTime,
  markOf,
  NEWEST,
  NO_TIME,
  secondOf,
  TIME,
  timeOf,
  type Edge,
} from './edge';
import { textKey } from '../records/keys';
import type { Recorded } from '../records/recorded';
import { QUARTER, toUnix, WIDEST } from '../records/zone';

/**
 * What an edge shows about a record: it was there before; it is new; it is new, and its id used to be that of another
 * record; or none of this is certain.
 */
export type Verdict = 'seen' | 'new' | 'reused' | 'unknown';

/** Compares the records of an answer with the edge of an earlier one. */
export class EdgeMemory {
  private readonly seen = new Map<bigint, string>();
  /** Remembered records that the answer does not contain under their ids, but perhaps under others. */
  private readonly missing: string[] = [];
  /** Whether all records of the latest second are remembered. */
  private readonly isWhole: boolean;

  /** @param records those of the answer, by id, oldest first */
  constructor(
    private readonly edge: Edge,
    private readonly records: readonly Recorded[],
  ) {
    for (const entry of edge.seen) {
      const [id = '', mark = ''] = entry.split(' ');
      this.seen.set(BigInt(id), mark);
    }
    for (const [id, mark] of this.seen) {
      const record = recordOf(id, records);
      if (!record || markOf(record) !== mark) this.missing.push(mark);
    }
    const latest = hash(edge.time);
    const ofLatest = [...this.seen.values()].filter((mark) => secondOf(mark) === latest);
    this.isWhole = ofLatest.length < NEWEST;
  }

  isLater({ time = '' }: Recorded): boolean {
    return this.edge.time !== '' && time > this.edge.time && TIME.test(time);
  }

  /** The lowest id that used to be that of another record. */
  lowestReused(): bigint | undefined {
    let lowest: bigint | undefined;
    for (const id of this.seen.keys()) {
      const record = recordOf(id, this.records);
      if (record && this.isReused(record) && (lowest === undefined || id < lowest)) lowest = id;
    }
    return lowest;
  }

  /**
   * Whether its id used to be that of another record. A body may also differ because the service writes bodies in
   * another encoding now: those of the latest second are compared both as text and as Base64.
   */
  private isReused(record: Recorded): boolean {
    const seen = this.seen.get(record.id);
    if (seen === undefined || record.mark === undefined) return false;
    const mark = markOf(record);
    if (bodyOf(seen) === bodyOf(mark)) return false;
    const [before, now] = [secondOf(seen), secondOf(mark)];
    if (before !== now) return before !== NO_TIME && now !== NO_TIME;
    return timeOf(record) === this.edge.time && !isRewritten(record, bodyOf(seen));
  }

  /** Whether it is new although it is of the latest second and its id is below the position. */
  isNewInLatestSecond(record: Recorded): boolean {
    if (!this.isWhole || (record.time ?? '') !== this.edge.time) return false;
    return record.mark !== undefined && !this.seen.has(record.id) && !this.wasMissing(record);
  }

  /**
   * Whether the service writes times in another zone than before, even those of old records. Then they do not show
   * which records are later.
   */
  isInOtherZone(): boolean {
    const { edge, records } = this;
    const [newest] = this.seen.keys();
    if (newest === undefined || edge.time === '') return false;
    const before = records.filter(({ id }) => id <= newest);
    const moved = toUnix(latestTime(before), 0) - toUnix(edge.time, 0);
    if (moved === 0 || moved % QUARTER !== 0 || Math.abs(moved) > 2 * WIDEST) return false;
    for (const [id, seen] of this.seen) {
      const record = recordOf(id, before);
      const mark = record && markOf(record);
      if (mark !== undefined && (bodyOf(mark) !== bodyOf(seen) || mark === seen)) return false;
    }
    return true;
  }

  /** What is known about a record of a history whose ids are all lower than before. */
  verdictOn(record: Recorded): Verdict {
    if (record.mark === undefined) return 'unknown';
    if (this.isLater(record)) return 'new';
    const seen = this.seen.get(record.id);
    if (seen !== undefined) {
      const mark = markOf(record);
      if (bodyOf(seen) !== bodyOf(mark)) return 'reused';
      return seen === mark ? 'seen' : 'unknown';
    }
    if (this.wasMissing(record)) return 'seen';
    const time = timeOf(record);
    const isLatest = time === this.edge.time || time === '' || this.edge.time === '';
    return isLatest && this.isWhole ? 'new' : 'unknown';
  }

  private wasMissing(record: Recorded): boolean {
    if (this.missing.length === 0) return false;
    const place = this.missing.indexOf(markOf(record));
    if (place < 0) return false;
    this.missing.splice(place, 1);
    return true;
  }
}

/** Finds a record by its id. An index would not pay for so few lookups. @param records by id, oldest first */
function recordOf(id: bigint, records: readonly Recorded[]): Recorded | undefined {
  let [from, to] = [0, records.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const record = records[middle] as Recorded;
    if (record.id === id) return record;
    if (record.id < id) from = middle + 1;
    else to = middle;
  }
  return undefined;
}

/** Whether a body was seen before in the other encoding. @param seen hash of its key */
function isRewritten({ body }: Recorded, seen: string): boolean {
  if (body === undefined) return false;
  const decoded = decodeBase64(body)?.toString('utf8');
  const encoded = Buffer.from(body, 'utf8').toString('base64');
  return [decoded, encoded].some((text) => text !== undefined && hash(textKey(text)) === seen);
}
