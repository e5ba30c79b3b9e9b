import { createHash } from 'node:crypto';
import type { Keeping } from '../../src/for-nodes';
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
  /** The mark covers too few records to remember all others, so some will be emitted again. */
  overflow?: boolean;
}

/** How many of the newest records of a device are remembered one by one, and how many that a mark does not cover. */
const NEWEST = 256;
const MOST = 5000;
/** The same of all devices of a node together. */
const NEWEST_OF_ALL = 320_000;
const MOST_OF_ALL = 1_000_000;

/** How many devices are remembered; the one read longest ago is forgotten first. */
const MAX_DEVICES = 10_000;

/** A longer id is remembered by its hash. */
const MAX_ID = 40;

/** Year first, largest unit to smallest, in a fixed width: such times are in the order of their texts. */
const TIME = /^(\d{4}(?:\D|\d{4})[\d :.,/T年月日时分秒-]*?)(Z|UTC|[+-]\d{2}:?\d{2})?$/;

const hashOf = (value: unknown): string =>
  `#${createHash('sha256').update(JSON.stringify(value)).digest('base64')}`;

function timeText(time: unknown): string {
  if (typeof time === 'number') return String(time);
  return typeof time === 'string' && /^[^|]{1,32}$/.test(time) ? time : '';
}

/** The key of a record. One without an id is identified by its body, and one without a time by its id alone. */
function keyOf(record: HistoryRecord): string {
  const { create_time: time, id, body } = record as Record<keyof HistoryRecord, unknown>;
  const known = typeof id === 'number' || (typeof id === 'string' && id !== '');
  const name = known ? String(id) : hashOf([id, body]);
  return `${timeText(time)}|${name.length <= MAX_ID ? name : hashOf(name)}`;
}

const timeOf = (key: string): string => key.slice(0, key.indexOf('|'));

function numberOf(key: string): bigint | undefined {
  const id = key.slice(key.indexOf('|') + 1);
  return /^\d{1,20}$/.test(id) ? BigInt(id) : undefined;
}

/** The form of a time, with its zone; undefined if the order of such times is not known. */
function layoutOf(time: string): string | undefined {
  const [, moment, zone = ''] = TIME.exec(time) ?? [];
  return moment === undefined ? undefined : moment.replace(/\d/g, '0') + zone;
}

/** Whether the texts of two times are in the order of the times. */
const areOrdered = (one: string, other: string): boolean =>
  layoutOf(one) !== undefined && layoutOf(one) === layoutOf(other);

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
    const isLater = areOrdered(other, time) ? other > time : layoutOf(time) === undefined;
    if (isLater && layoutOf(other) !== undefined) time = other;
    if (number !== undefined && (id === '' || number > BigInt(id))) id = String(number);
  }
  return { time, id };
}

/**
 * Leaves out the records of one device that were emitted before, and duplicates.
 * @param devices how many the node remembers
 * @returns the new ones as they came, and the position once they have been emitted
 */
export function advance<R extends HistoryRecord>(
  start: Position,
  records: readonly R[],
  devices = 1,
): { fresh: R[]; position: Position } {
  const emitted = new Set(start.keys);
  const fresh = records.filter((record) => {
    const key = keyOf(record);
    if (emitted.has(key) || covers(start.mark, key)) return false;
    emitted.add(key);
    return true;
  });
  const newest = [...emitted].sort(compare);
  const room = Math.min(NEWEST, Math.ceil(NEWEST_OF_ALL / devices));
  const older = newest.splice(0, Math.max(0, newest.length - room));
  const mark = extend(start.mark, older);
  const keys = [...older.filter((key) => !covers(mark, key)), ...newest];
  const most = room + Math.min(MOST, Math.ceil(MOST_OF_ALL / devices));
  const overflow = start.overflow === true || keys.length > most;
  return {
    fresh,
    position: { keys: keys.slice(-most), ...(mark && { mark }), ...(overflow && { overflow }) },
  };
}

/** Reads what the context holds for a device, which may be anything: then it starts over. */
export function readPosition(stored: unknown): Position {
  const { keys, mark, overflow } = isObject(stored) ? stored : {};
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string' && key.includes('|')))
    return { keys: [] };
  const { time, id } = isObject(mark) ? mark : {};
  const isMark = typeof time === 'string' && typeof id === 'string' && /^\d*$/.test(id);
  return {
    keys: keys as string[],
    ...(isMark && { mark: { time, id } }),
    ...(overflow === true && { overflow }),
  };
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
  warn: (line: string) => void,
  operation: string,
  chipid: string,
  records: readonly R[],
): Promise<{ fresh: R[]; remember: () => void }> {
  const prefix = `mark:${node}:`;
  const places = new Map<string, R[]>();
  for (const record of records) {
    const device = 'chipid' in record ? chipidOf(record).slice(0, MAX_ID) : chipid;
    const place = `${prefix}${operation}:${device}`;
    const group = places.get(place);
    if (group) group.push(record);
    else places.set(place, [record]);
  }
  await store.loaded;
  const stored = store.list(prefix).map(([place]) => place);
  const added = [...places.keys()].filter((place) => store.get(place) === undefined);
  const devices = Math.min(stored.length + added.length, MAX_DEVICES);
  const fresh = new Set<R>();
  const read = new Map<string, Position>();
  let overflowing = 0;
  for (const [place, group] of places) {
    const start = readPosition(store.get(place));
    const { fresh: news, position } = advance(start, group, devices);
    for (const record of news) fresh.add(record);
    read.set(place, position);
    if (position.overflow && !start.overflow) overflowing++;
  }
  if (overflowing > 0) {
    const of = overflowing === 1 ? 'a device' : `${overflowing} devices`;
    warn(
      `The history of ${of} has more than ${Math.min(MOST, Math.ceil(MOST_OF_ALL / devices))} ` +
        'records whose ids are not numbers and whose times have no order. No more are remembered, so ' +
        'some of them will be emitted again.',
    );
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
      if (all.length <= MAX_DEVICES) return;
      for (const [place] of all.slice(0, -MAX_DEVICES)) store.update(place, undefined);
      const said = `fact:forgets-${node}`;
      if (store.get(said) !== undefined) return;
      store.update(said, true);
      warn(
        'This node has read the histories of more than 10,000 devices. It forgets those that it read ' +
          'longest ago, and will emit their records again when it next reads them. Use several nodes.',
      );
    },
  };
}
