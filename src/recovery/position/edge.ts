import type { Recorded } from '../records/recorded';

/** What is remembered of a history, to recognise its records if its ids start over. */
export interface Edge {
  /** The latest `create_time` among its records, as the service writes it. */
  time: string;
  /** Some of its records, newest first: each one's id, a space, and a hash of its body and time. */
  seen: string[];
}

/** How many of the newest records are remembered without exception, by id and of the latest second. */
export const NEWEST = 8;

const DIGITS = 6;

/** FNV-1a, since it is fast and nothing has to be protected: there may be very many records. */
export function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return (value >>> 0)
    .toString(36)
    .padStart(DIGITS + 1, '0')
    .slice(1);
}

export const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
export const timeOf = ({ time = '' }: Recorded): string => (TIME.test(time) ? time : '');

/** Of a record: hash of its body, hash of its time. */
export const markOf = (record: Recorded): string => hash(record.mark ?? '') + hash(timeOf(record));
export const bodyOf = (mark: string): string => mark.slice(0, DIGITS);
export const secondOf = (mark: string): string => mark.slice(DIGITS);
export const NO_TIME = hash('');

export function latestTime(records: readonly Recorded[]): string {
  let latest = '';
  // From the newest on: then few are later than the latest so far, and have their time read.
  for (let place = records.length - 1; place >= 0; place--) {
    const record = records[place] as Recorded;
    if ((record.time ?? '') > latest) latest = timeOf(record) || latest;
  }
  return latest;
}

/** Indices of a list: the last eight, then each at twice the distance of the one before, and the first. */
function sampled(length: number): number[] {
  const places: number[] = [];
  for (let back = 1; back < length; back += Math.max(1, back + 1 - NEWEST)) places.push(back);
  return [...places, length].map((back) => length - back);
}

/** Indices of the last eight records with a given time. */
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
      // Not a template: V8 would keep its parts, in three times the memory.
      return record?.mark === undefined ? [] : [record.id, markOf(record)].join(' ');
    });
  return { time, seen };
}
