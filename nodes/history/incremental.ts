import { createHash } from 'node:crypto';
import type { Keeping } from '../../src/index';
import { isObject } from '../common/shared.config';
import { chipidOf, type HistoryRecord } from './records';

/**
 * How far the records of one device have been emitted. A record is its time and its id, `time|id`, since
 * ids need not be numbers (section 2.4), and start at 1 again in a service that was restored.
 */
export interface Position {
  /** The newest records that were emitted, and all that the mark does not cover, the oldest first. */
  keys: string[];
  /** Of the other records, the latest time and the highest number: up to there, all were emitted. */
  mark?: { time: string; id: string };
}

/** How many of the newest records of a device are remembered one by one, and how many with those that no mark covers. */
const NEWEST = 32;
const MOST = 1000;

/** How many devices are remembered; the one read longest ago is forgotten first. */
const MAX_DEVICES = 10_000;

/** A longer id is remembered by its hash. */
const MAX_ID = 40;

/** A time of the service (section 2), or of ISO in UTC: of one form, they are in the order of their texts. */
const TIME = /^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d|T[\d:.]+Z)$/;

const hashOf = (value: unknown): string =>
  `#${createHash('sha256').update(JSON.stringify(value)).digest('base64')}`;

/** The key of a record. One without an id is identified by its body, and one without a time by its id alone. */
function keyOf({ create_time: time, id, body }: HistoryRecord): string {
  const known = typeof id === 'number' || (typeof id === 'string' && id !== '');
  const name = known ? String(id) : hashOf([id, body]);
  const when = typeof time === 'string' && /^[^|]{1,32}$/.test(time) ? time : '';
  return `${when}|${name.length <= MAX_ID ? name : hashOf(name)}`;
}

const timeOf = (key: string): string => key.slice(0, key.indexOf('|'));

function numberOf(key: string): bigint | undefined {
  const id = key.slice(key.indexOf('|') + 1);
  return /^\d{1,20}$/.test(id) ? BigInt(id) : undefined;
}

/** Whether the texts of two times are in the order of the times. */
const areOrdered = (one: string, other: string): boolean =>
  TIME.test(one) && TIME.test(other) && one.length === other.length;

/** Orders by time, then by number; otherwise keeps the order. */
function compare(one: string, other: string): number {
  const [time, otherTime] = [timeOf(one), timeOf(other)];
  if (time !== otherTime) return time < otherTime ? -1 : 1;
  const [id, otherId] = [numberOf(one), numberOf(other)];
  if (id === undefined || otherId === undefined || id === otherId) return 0;
  return id < otherId ? -1 : 1;
}

/** Whether a record was emitted before the mark, by its time and, if it has one, its number. */
function covers(mark: Position['mark'], key: string): boolean {
  if (!mark) return false;
  const [number, time] = [numberOf(key), timeOf(key)];
  // Of the very time of the mark, others may still come.
  if (number === undefined) return areOrdered(time, mark.time) && time < mark.time;
  if (mark.id === '' || number > BigInt(mark.id)) return false;
  return time === '' || mark.time === '' || (areOrdered(time, mark.time) && time <= mark.time);
}

/** Moves a mark past records. Times that cannot be compared with the first comparable one do not move it. */
function extend(mark: Position['mark'], keys: readonly string[]): Position['mark'] {
  if (keys.length === 0) return mark;
  let { time, id } = mark ?? { time: '', id: '' };
  for (const key of keys) {
    const [other, number] = [timeOf(key), numberOf(key)];
    if (time === '' ? TIME.test(other) : areOrdered(other, time) && other > time) time = other;
    if (number !== undefined && (id === '' || number > BigInt(id))) id = String(number);
  }
  return { time, id };
}

/**
 * Leaves out the records of one device that were emitted before, and duplicates.
 * @returns the new ones as they came, and the position once they have been emitted
 */
export function advance<R extends HistoryRecord>(
  start: Position,
  records: readonly R[],
): { fresh: R[]; position: Position } {
  const emitted = new Set(start.keys);
  const fresh = records.filter((record) => {
    const key = keyOf(record);
    if (emitted.has(key) || covers(start.mark, key)) return false;
    emitted.add(key);
    return true;
  });
  const newest = [...emitted].sort(compare);
  const older = newest.splice(0, Math.max(0, newest.length - NEWEST));
  const mark = extend(start.mark, older);
  const keys = [...older.filter((key) => !covers(mark, key)), ...newest].slice(-MOST);
  return { fresh, position: { keys, ...(mark && { mark }) } };
}

/** Reads what the store holds for a device, which may be anything: then it starts over. */
export function readPosition(stored: unknown): Position {
  const { keys, mark } = isObject(stored) ? stored : {};
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) return { keys: [] };
  const { time, id } = isObject(mark) ? mark : {};
  const isMark = typeof time === 'string' && typeof id === 'string' && /^\d*$/.test(id);
  return { keys, ...(isMark && { mark: { time, id } }) };
}

/** Where positions are, and the id of the node. */
export interface KeptMarks {
  readonly store: Pick<Keeping, 'get' | 'list' | 'update' | 'loaded'>;
  readonly node: string;
  /** They are lent: lets others have them. */
  readonly giveBack?: () => Promise<void>;
}

/**
 * Leaves out the records that were emitted before, by a position for each device.
 * @param operation which history it is
 * @param chipid the device, or empty where each record names its own (section 2.5)
 * @returns the new records, and a function to call once they have been emitted, which remembers them
 */
export async function onlyNew<R extends HistoryRecord>(
  { store, node }: KeptMarks,
  operation: string,
  chipid: string,
  records: readonly R[],
): Promise<{ fresh: R[]; remember: () => void }> {
  const prefix = `mark:${node}:`;
  const groups = new Map<string, R[]>();
  for (const record of records) {
    const device = 'chipid' in record ? chipidOf(record).slice(0, MAX_ID) : chipid;
    const place = `${prefix}${operation}:${device}`;
    const group = groups.get(place);
    if (group) group.push(record);
    else groups.set(place, [record]);
  }
  await store.loaded;
  const fresh = new Set<R>();
  const read = new Map<string, Position>();
  for (const [place, group] of groups) {
    const { fresh: news, position } = advance(readPosition(store.get(place)), group);
    for (const record of news) fresh.add(record);
    read.set(place, position);
  }
  return {
    fresh: records.filter((record) => fresh.has(record)),
    remember: () => {
      // Removed first: the devices just read are the last to be forgotten.
      for (const [place, position] of read) {
        store.update(place, undefined);
        store.update(place, position);
      }
      const all = store.list(prefix);
      for (const [place] of all.slice(0, Math.max(0, all.length - MAX_DEVICES)))
        store.update(place, undefined);
    },
  };
}
