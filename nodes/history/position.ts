import { createHash } from 'node:crypto';
import { isObject } from '../common/values';
import type { HistoryRecord } from './body';

/**
 * How far the records of one device have been emitted. A record is its id together with its time, since
 * ids need not be numbers (section 2.4), and start at 1 again in a service that was restored.
 */
export interface Position {
  /** The newest records that were emitted, oldest first, each as `time|id`. */
  emitted: string[];
  /** The latest time and the highest number of those that are no longer in the list. */
  before?: Mark;
}

/** Of records up to here, all were emitted. */
export interface Mark {
  /** Missing in the position of an earlier version, which knew numbers alone. */
  time?: string;
  id?: string;
}

/** How many records of a device are remembered one by one. */
export const MAX_EMITTED = 256;

/** A longer id is remembered by its hash. */
const MAX_ID = 40;

const hashOf = (value: unknown): string =>
  `#${createHash('sha256').update(JSON.stringify(value)).digest('base64')}`;

/** A record as it is remembered. One without an id is identified by its body. */
function keyOf(record: HistoryRecord): string {
  const { create_time: time, id, body } = record as Record<keyof HistoryRecord, unknown>;
  const known = typeof id === 'number' || (typeof id === 'string' && id !== '');
  const name = known ? String(id) : hashOf([id, body]);
  const when = typeof time === 'string' && /^[\d: -]{1,32}$/.test(time) ? time : '';
  return `${when}|${name.length <= MAX_ID ? name : hashOf(name)}`;
}

const timeOf = (key: string): string => key.slice(0, key.indexOf('|'));

function numberOf(key: string): bigint | undefined {
  const id = key.slice(key.indexOf('|') + 1);
  return /^\d{1,20}$/.test(id) ? BigInt(id) : undefined;
}

/** Orders by time, then by number; otherwise keeps the order. */
function compare(one: string, other: string): number {
  const [time, otherTime] = [timeOf(one), timeOf(other)];
  if (time !== otherTime) return time < otherTime ? -1 : 1;
  const [id, otherId] = [numberOf(one), numberOf(other)];
  if (id === undefined || otherId === undefined || id === otherId) return 0;
  return id < otherId ? -1 : 1;
}

/** Whether a record was emitted before the mark, by its time and, if it has one, its number. */
function covers(mark: Mark, key: string): boolean {
  const number = numberOf(key);
  if (mark.time !== undefined && timeOf(key) > mark.time) return false;
  if (number === undefined) return mark.time !== undefined;
  return mark.id !== undefined && number <= BigInt(mark.id);
}

function extend(mark: Mark | undefined, keys: readonly string[]): Mark {
  let time = mark?.time ?? '';
  let id = mark?.id === undefined ? undefined : BigInt(mark.id);
  for (const key of keys) {
    const number = numberOf(key);
    if (number !== undefined && (id === undefined || number > id)) id = number;
    if (timeOf(key) > time) time = timeOf(key);
  }
  return id === undefined ? { time } : { time, id: String(id) };
}

/**
 * Adds to the mark of an earlier version, which has no time, the time of the newest record that it covers:
 * later records are new even if their ids start at 1 again.
 */
export function completeMark(mark: Mark, records: readonly HistoryRecord[]): Mark {
  if (mark.time !== undefined) return mark;
  const covered = records.map(keyOf).filter((key) => covers(mark, key));
  return covered.length > 0 ? extend(mark, covered) : mark;
}

/**
 * Leaves out the records of one device that were emitted before, and duplicates.
 * @returns the new ones as they came, and the position once they have been emitted
 */
export function advance<R extends HistoryRecord>(
  { emitted, before }: Position,
  records: readonly R[],
): { fresh: R[]; position: Position } {
  const mark = before && completeMark(before, records);
  const known = new Set(emitted);
  const fresh = records.filter((record) => {
    const key = keyOf(record);
    if (known.has(key) || (mark && covers(mark, key))) return false;
    known.add(key);
    return true;
  });
  const keys = [...known].sort(compare);
  const dropped = keys.splice(0, Math.max(0, keys.length - MAX_EMITTED));
  const next = dropped.length > 0 ? extend(mark, dropped) : mark;
  return { fresh, position: { emitted: keys, ...(next ? { before: next } : {}) } };
}

/** Reads what the context holds for a device: a position, the number of an earlier version, or anything. */
export function readPosition(stored: unknown): Position {
  if (typeof stored === 'string' && /^\d+$/.test(stored)) {
    return { emitted: [], before: { id: stored } };
  }
  if (!isObject(stored)) return { emitted: [] };
  const { emitted, before } = stored;
  const list: unknown[] = Array.isArray(emitted) ? emitted : [];
  const keys = list.filter((key): key is string => typeof key === 'string' && key.includes('|'));
  const mark = readMark(before);
  return { emitted: keys, ...(mark ? { before: mark } : {}) };
}

function readMark(stored: unknown): Mark | undefined {
  if (!isObject(stored)) return undefined;
  const { time, id } = stored;
  const mark: Mark = {};
  if (typeof time === 'string') mark.time = time;
  if (typeof id === 'string' && /^\d+$/.test(id)) mark.id = id;
  return mark;
}
