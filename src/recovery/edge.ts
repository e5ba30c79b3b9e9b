import { decodeBase64 } from '../util/base64';
import { textKey } from './keys';
import type { Recorded } from './recorded';
import { QUARTER, toUnix, WIDEST } from './zone';

/** What is remembered of a history, by which it is recognised if its ids begin anew. */
export interface Edge {
  /** The latest `create_time` among its records, as the service writes it. */
  time: string;
  /** Some of its records, newest first: each one's id, a space, and a hash of its body and time. */
  seen: string[];
}

/** The newest records that are all remembered, by id and of the latest second; of others fewer and fewer. */
const NEWEST = 8;

const DIGITS = 6;

/** FNV-1a: records are compared, not protected, and there may be very many. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return (value >>> 0)
    .toString(36)
    .padStart(DIGITS + 1, '0')
    .slice(1);
}

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const timeOf = ({ time = '' }: Recorded): string => (TIME.test(time) ? time : '');

/** Of a record: hash of its body, hash of its time. */
const markOf = (record: Recorded): string => hash(record.mark ?? '') + hash(timeOf(record));
const bodyOf = (mark: string): string => mark.slice(0, DIGITS);
const secondOf = (mark: string): string => mark.slice(DIGITS);
const NO_TIME = hash('');

function latestTime(records: readonly Recorded[]): string {
  let latest = '';
  for (const record of records) {
    // Few are later than all before them, so that few have to be looked at.
    if ((record.time ?? '') > latest) latest = timeOf(record) || latest;
  }
  return latest;
}

/** Places in a list: each of the last eight, then at twice the distance, and the first. */
function sampled(length: number): number[] {
  const places: number[] = [];
  for (let back = 1; back < length; back += Math.max(1, back + 1 - NEWEST)) places.push(back);
  return [...places, length].map((back) => length - back);
}

/** Places of the last eight records of a time. */
function lastOf(records: readonly Recorded[], time: string): number[] {
  const places: number[] = [];
  for (let place = records.length - 1; place >= 0 && places.length < NEWEST; place--) {
    const record = records[place];
    if (record && (record.time ?? '') === time) places.push(place);
  }
  return places;
}

/** The edge of an answer. @param records by id, oldest first */
export function edgeOf(records: readonly Recorded[], before: Edge | undefined): Edge | undefined {
  if (records.length === 0) return before;
  const time = latestTime(records);
  const places = new Set([...lastOf(records, time), ...sampled(records.length)]);
  const seen = [...places]
    .sort((a, b) => b - a)
    .flatMap((place) => {
      const record = records[place];
      return record?.mark === undefined ? [] : `${record.id} ${markOf(record)}`;
    });
  return { time, seen };
}

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
