import type { HistoryRecord } from './body';
import { completeMark, covers, extend, type Mark } from './mark';
import { compare, earlierKey, fingerprint, keyOf } from './record-key';

/**
 * How far the records of one device have been emitted. A record is its id together with its time, since
 * ids need not be numbers (section 2.4), and start at 1 again in a service that was restored.
 */
export interface Position {
  /** The newest records that were emitted, oldest first, each as `time|id`. */
  emitted: string[];
  /** How far those reach that are no longer in the list. */
  before?: Mark;
  /** Fingerprints of those that the mark cannot cover: their ids and times have no order. */
  others?: string[];
  /** There are more of those than are remembered, so some will be emitted again. */
  overflow?: boolean;
  /** Saved by an earlier version. */
  earlier?: boolean;
}

/** How much is remembered of a device. */
export interface Room {
  /** Records that are remembered one by one. */
  emitted: number;
  /** More of them, by a fingerprint of 12 characters, if nothing orders them. */
  others: number;
}

/** How much is remembered of each device and, in a node with many, of all together. */
const MOST: Room = { emitted: 256, others: 5000 };
const OF_ALL: Room = { emitted: 320_000, others: 1_000_000 };

/** @param devices how many the node remembers */
export function roomFor(devices: number): Room {
  return {
    emitted: Math.min(MOST.emitted, Math.ceil(OF_ALL.emitted / devices)),
    others: Math.min(MOST.others, Math.ceil(OF_ALL.others / devices)),
  };
}

/** Finds again the records that an earlier version saved without their times. */
function namedAgain({ emitted, before }: Position, keys: readonly string[]): string[] {
  const saved = new Set(emitted);
  const found = keys.filter((key) => {
    const name = earlierKey(key);
    return name !== key && (saved.has(name) || (before && covers(before, name)));
  });
  const names = new Set(found.map(earlierKey));
  return [...emitted.filter((key) => !names.has(key)), ...new Set(found)];
}

/** What has been emitted, as a test of a key. */
function emittedBy(emitted: readonly string[], mark: Mark | undefined, others: readonly string[]) {
  const [list, hashes] = [new Set(emitted), new Set(others)];
  return (key: string): boolean =>
    list.has(key) ||
    (mark !== undefined && covers(mark, key)) ||
    (hashes.size > 0 && hashes.has(fingerprint(key)));
}

/** The fingerprints to keep: of what this answer shows rather than of what it no longer shows. */
function keepOthers(
  others: readonly string[],
  keys: readonly string[],
  added: readonly string[],
  max: number,
) {
  const shown = new Set(others.length > 0 ? keys.map(fingerprint) : []);
  const again = others.filter((hash) => shown.has(hash));
  const gone = others.filter((hash) => !shown.has(hash));
  const current = [...again, ...added.map(fingerprint)];
  const kept = [...new Set([...gone, ...current])].slice(-max);
  return { kept, overflow: current.length > max };
}

/**
 * Leaves out the records of one device that were emitted before, and duplicates.
 * @returns the new ones as they came, and the position once they have been emitted
 */
export function advance<R extends HistoryRecord>(
  start: Position,
  records: readonly R[],
  room: Room = MOST,
): { fresh: R[]; position: Position } {
  const keys = records.map(keyOf);
  const mark = start.before && completeMark(start.before, records);
  const emitted = start.earlier ? namedAgain(start, keys) : start.emitted;
  const others = start.others ?? [];
  const wasEmitted = emittedBy(emitted, mark, others);
  const news = new Set<string>();
  const fresh = records.filter((_, index) => {
    const key = keys[index] ?? '';
    if (news.has(key) || wasEmitted(key)) return false;
    news.add(key);
    return true;
  });
  const newest = [...emitted, ...news].sort(compare);
  const dropped = newest.splice(0, Math.max(0, newest.length - room.emitted));
  const before = dropped.length > 0 ? extend(mark, dropped) : mark;
  const loose = dropped.filter((key) => !(before && covers(before, key)));
  const { kept, overflow } = keepOthers(others, keys, loose, room.others);
  const same = [...(before?.same ?? [])];
  const position: Position = { emitted: newest };
  if (before) position.before = before;
  if (before?.same) before.same = new Set(same.slice(-room.others));
  if (kept.length > 0) position.others = kept;
  if (overflow || same.length > room.others) position.overflow = true;
  return { fresh, position };
}
