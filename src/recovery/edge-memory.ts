import { decodeBase64 } from '../util/base64';
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
import { textKey } from './keys';
import type { Recorded } from './recorded';
import { QUARTER, toUnix, WIDEST } from './zone';

/**
 * What an edge says of a record: it was there before; it is new; it is new, since its id was that of
 * another record; or none of these can be told.
 */
export type Verdict = 'seen' | 'new' | 'reused' | 'unknown';

/** Compares the records of an answer with the edge of an earlier one. */
export class EdgeMemory {
  private readonly seen = new Map<bigint, string>();
  /** Records that are not in the answer under their ids: each may stand there under another one. */
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
    const marks = new Map(this.seen);
    for (const record of records) {
      if (marks.has(record.id) && marks.get(record.id) === markOf(record)) marks.delete(record.id);
    }
    this.missing = [...marks.values()];
    const latest = hash(edge.time);
    const ofLatest = [...this.seen.values()].filter((mark) => secondOf(mark) === latest);
    this.isWhole = ofLatest.length < NEWEST;
  }

  isLater({ time = '' }: Recorded): boolean {
    return this.edge.time !== '' && time > this.edge.time && TIME.test(time);
  }

  /**
   * Whether its id was that of another record. A body alone may be another because the service has
   * begun to write bodies in another way: that of the latest second is compared as text and as Base64.
   */
  isReused(record: Recorded): boolean {
    const seen = this.seen.get(record.id);
    if (seen === undefined || record.mark === undefined) return false;
    const mark = markOf(record);
    if (bodyOf(seen) === bodyOf(mark)) return false;
    const [before, now] = [secondOf(seen), secondOf(mark)];
    if (before !== now) return before !== NO_TIME && now !== NO_TIME;
    return timeOf(record) === this.edge.time && !isRewritten(record, bodyOf(seen));
  }

  /** Whether it was not there before, though it is of the latest second and its id is below the position. */
  isNewInLatestSecond(record: Recorded): boolean {
    if (!this.isWhole || (record.time ?? '') !== this.edge.time) return false;
    return record.mark !== undefined && !this.seen.has(record.id) && !this.wasMissing(record);
  }

  /**
   * Whether the service writes its times in another zone than before, those of old records, too: then
   * they do not tell which are later.
   */
  isInOtherZone(): boolean {
    const { edge, records } = this;
    const [newest] = this.seen.keys();
    if (newest === undefined || edge.time === '') return false;
    const before = records.filter(({ id }) => id <= newest);
    const moved = toUnix(latestTime(before), 0) - toUnix(edge.time, 0);
    if (moved === 0 || moved % QUARTER !== 0 || Math.abs(moved) > 2 * WIDEST) return false;
    return before.every((record) => {
      const seen = this.seen.get(record.id);
      if (seen === undefined) return true;
      const mark = markOf(record);
      return bodyOf(mark) === bodyOf(seen) && mark !== seen;
    });
  }

  /** What can be told of a record in a history all of whose ids are below those of before. */
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

/** Whether a body is one that was seen, now in Base64 or no longer. @param seen hash of its key */
function isRewritten({ body }: Recorded, seen: string): boolean {
  if (body === undefined) return false;
  const decoded = decodeBase64(body)?.toString('utf8');
  const encoded = Buffer.from(body, 'utf8').toString('base64');
  return [decoded, encoded].some((text) => text !== undefined && hash(textKey(text)) === seen);
}
