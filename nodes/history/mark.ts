import type { HistoryRecord } from './body';
import { areOrdered, fingerprint, keyOf, layoutOf, numberOf, timeOf } from './record-key';

/** Of records up to here, all were emitted. */
export interface Mark {
  /** Empty if no time is known. Missing in the position of an earlier version, which knew numbers alone. */
  time?: string;
  id?: string;
  /**
   * Fingerprints of the emitted records of that very time whose ids are not numbers. Missing in the
   * position of an earlier version, which took all of them for emitted.
   */
  same?: Set<string>;
}

/** Whether a record was emitted before the mark, by its time and, if it has one, its number. */
export function covers(mark: Mark, key: string): boolean {
  const [number, time] = [numberOf(key), timeOf(key)];
  if (number !== undefined) {
    if (mark.id === undefined || number > BigInt(mark.id)) return false;
    if (mark.time === undefined || time === '') return true;
    return areOrdered(time, mark.time) && time <= mark.time;
  }
  if (mark.time === undefined || !areOrdered(time, mark.time)) return false;
  if (time !== mark.time) return time < mark.time;
  return mark.same === undefined || mark.same.has(fingerprint(key));
}

/** The latest of the times that can be compared with the first one that has an order. */
function latest(times: readonly string[]): string {
  let last = '';
  for (const time of times) {
    const later = areOrdered(time, last) ? time > last : layoutOf(last) === undefined;
    if (later && layoutOf(time) !== undefined) last = time;
  }
  return last;
}

/** Moves a mark past records. It does not cover those that have neither a number nor a comparable time. */
export function extend(mark: Mark | undefined, keys: readonly string[]): Mark {
  const time = latest([mark?.time ?? '', ...keys.map(timeOf)]);
  const numbers = keys.map(numberOf).filter((number) => number !== undefined);
  if (mark?.id !== undefined) numbers.push(BigInt(mark.id));
  const same = new Set(time === mark?.time ? mark.same : undefined);
  for (const key of keys) {
    if (time !== '' && timeOf(key) === time && numberOf(key) === undefined) {
      same.add(fingerprint(key));
    }
  }
  if (numbers.length === 0) return { time, same };
  return { time, id: String(numbers.reduce((a, b) => (a > b ? a : b))), same };
}

/**
 * Adds to the mark of an earlier version what it lacks: the time of the newest record that it covers,
 * since later records are new even if their ids start at 1 again, and which records of that time it covers.
 */
export function completeMark(mark: Mark, records: readonly HistoryRecord[]): Mark {
  if (mark.same !== undefined) return mark;
  const covered = records.map(keyOf).filter((key) => covers(mark, key));
  if (mark.time === undefined && covered.length === 0) return mark;
  return extend(mark, covered);
}
