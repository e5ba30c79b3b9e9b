import { createHash } from 'node:crypto';
import type { Recorded } from './recorded';
import { QUARTER, toUnix, WIDEST } from './zone';

/** What is remembered of a history, by which it is recognised if its ids begin anew. */
export interface Edge {
  /** The latest `create_time` among its records, as the service writes it. */
  time: string;
  /** Some of its records, newest first: each one's id, a space, and a hash of its body and time. */
  seen: string[];
}

/** The newest records of a history, each of which is remembered; of older ones fewer and fewer. */
const NEWEST = 8;

const BODY_DIGITS = 6;
const TIME_DIGITS = 4;

const hash = (text: string, digits: number): string =>
  createHash('md5').update(text).digest('base64').slice(0, digits);

const markOf = ({ mark = '', time = '' }: Recorded): string =>
  hash(mark, BODY_DIGITS) + hash(time, TIME_DIGITS);

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const timeOf = ({ time = '' }: Recorded): string => (TIME.test(time) ? time : '');

/** Places from the end of a list: each of the last eight, then at twice the distance, and the first. */
function sampled(length: number): number[] {
  const places: number[] = [];
  for (let back = 1; back < length; back += Math.max(1, back + 1 - NEWEST)) places.push(back);
  return [...places, length].map((back) => length - back);
}

function latestTime(records: readonly Recorded[]): string {
  let latest = '';
  for (const record of records) {
    const time = timeOf(record);
    if (time > latest) latest = time;
  }
  return latest;
}

/** The edge of an answer. @param records by id, oldest first */
export function edgeOf(records: readonly Recorded[], before: Edge | undefined): Edge | undefined {
  if (records.length === 0) return before;
  const seen = sampled(records.length).flatMap((place) => {
    const record = records[place];
    return record?.mark === undefined ? [] : `${record.id} ${markOf(record)}`;
  });
  return { time: latestTime(records), seen };
}

/**
 * What an edge says of a record: it was there before; it is new; it is new, since its id was that of
 * another record; or none of these can be told.
 */
export type Verdict = 'seen' | 'new' | 'reused' | 'unknown';

const bodyOf = (mark: string): string => mark.slice(0, BODY_DIGITS);
const secondOf = (mark: string): string => mark.slice(BODY_DIGITS);
const NO_TIME = hash('', TIME_DIGITS);

/** Compares the records of an answer with the edge of an earlier one. */
export class EdgeMemory {
  private readonly seen: Map<string, string>;
  /** The newest ones, whatever ids they had. */
  private readonly newest: string[];
  /** Whether these were all that the history had, or at least all of its latest second. */
  private readonly isWhole: boolean;

  constructor(private readonly edge: Edge) {
    const entries = edge.seen.map((entry) => {
      const [id = '', mark = ''] = entry.split(' ');
      return [id, mark] as const;
    });
    this.seen = new Map(entries);
    this.newest = entries.slice(0, NEWEST).map(([, mark]) => mark);
    const latest = hash(edge.time, TIME_DIGITS);
    const isMoreThanLatest = this.newest.some((mark) => secondOf(mark) !== latest);
    this.isWhole = entries.length <= NEWEST || (edge.time !== '' && isMoreThanLatest);
  }

  isLater(record: Recorded): boolean {
    return this.edge.time !== '' && timeOf(record) > this.edge.time;
  }

  /**
   * Whether its id was that of another record, by body and by time: one of the two may differ because
   * the service has begun to write it in another way.
   */
  isReused(record: Recorded): boolean {
    const seen = this.seen.get(String(record.id));
    if (seen === undefined || record.mark === undefined) return false;
    const mark = markOf(record);
    const isSameTime = [secondOf(mark), NO_TIME].includes(secondOf(seen));
    return bodyOf(seen) !== bodyOf(mark) && !isSameTime && secondOf(mark) !== NO_TIME;
  }

  /**
   * Whether the service writes its times in another zone than before, those of old records, too: then
   * they do not tell which are later.
   */
  isInOtherZone(records: readonly Recorded[]): boolean {
    const [newest] = this.seen.keys();
    if (newest === undefined || this.edge.time === '') return false;
    const before = records.filter(({ id }) => id <= BigInt(newest));
    const moved = toUnix(latestTime(before), 0) - toUnix(this.edge.time, 0);
    if (moved === 0 || moved % QUARTER !== 0 || Math.abs(moved) > 2 * WIDEST) return false;
    return before.every((record) => {
      const seen = this.seen.get(String(record.id));
      const mark = markOf(record);
      return seen === undefined || (bodyOf(mark) === bodyOf(seen) && mark !== seen);
    });
  }

  /** What can be told of a record in a history all of whose ids are below those of before. */
  verdictOn(record: Recorded): Verdict {
    if (record.mark === undefined) return 'unknown';
    if (this.isLater(record)) return 'new';
    const mark = markOf(record);
    const seen = this.seen.get(String(record.id));
    if (seen !== undefined) {
      if (bodyOf(seen) !== bodyOf(mark)) return 'reused';
      return seen === mark ? 'seen' : 'unknown';
    }
    // Under another id, perhaps: each stands for one record.
    const place = this.newest.indexOf(mark);
    if (place >= 0) {
      this.newest.splice(place, 1);
      return 'seen';
    }
    const time = timeOf(record);
    const isLatest = time === this.edge.time || time === '' || this.edge.time === '';
    return isLatest && this.isWhole ? 'new' : 'unknown';
  }
}
