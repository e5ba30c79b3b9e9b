/** Something with the key of its body; without a key, it may be equal to anything. */
export interface Keyed {
  readonly key: string | undefined;
}

const isSame = (a: string | undefined, b: string | undefined): boolean =>
  a === b || a === undefined || b === undefined;

/** Whether `count` items from `a[from]` on equal those from `b[start]` on. */
function equal(
  a: readonly Keyed[],
  from: number,
  b: readonly Keyed[],
  start: number,
  count: number,
): boolean {
  for (let index = 0; index < count; index++) {
    if (!isSame(a[from + index]?.key, b[start + index]?.key)) return false;
  }
  return true;
}

/**
 * The largest number of items at the beginning of `open` with which the records can end. Records that do not reach
 * back far may start in the middle of them.
 */
export function overlap(records: readonly Keyed[], open: readonly Keyed[]): number {
  for (let most = open.length; most > 0; most--) {
    const count = Math.min(most, records.length);
    if (equal(records, records.length - count, open, most - count, count)) return most;
  }
  return 0;
}

/** Whether a list ends with all of `end` and then the first `more` of `then`. */
export function endsWith(
  list: readonly Keyed[],
  end: readonly Keyed[],
  then: readonly Keyed[],
  more: number,
): boolean {
  const from = list.length - end.length - more;
  return (
    from >= 0 &&
    equal(list, from, end, 0, end.length) &&
    equal(list, from + end.length, then, 0, more)
  );
}

/** How many items at the beginning of `open` can be among the records. */
interface Enough {
  /** Including those that only a record without a key can be. */
  most: number;
  /** Up to the last one that has a record of its own: those before it must be there as well. */
  proven: number;
}

/**
 * How many items at the beginning of `open` can be among the records in addition to all of `sure`. Their order does not
 * matter, since something may have been missed between them.
 */
export function enoughFor(
  records: readonly Keyed[],
  sure: readonly Keyed[],
  open: readonly Keyed[],
): Enough {
  const spare = new Map(open.map(({ key }) => [key, 0]));
  let any = 0;
  const count = (items: readonly Keyed[], step: number): void => {
    for (const { key } of items) {
      const counted = spare.get(key);
      if (counted !== undefined) spare.set(key, counted + step);
      if (key === undefined) any++;
    }
  };
  count(records, 1);
  count(sure, -1);
  let most = 0;
  let proven = 0;
  for (const { key } of open) {
    const left = spare.get(key) ?? 0;
    most++;
    if (left > 0) {
      spare.set(key, left - 1);
      proven = most;
    } else if (--any < 0) {
      most--;
      break;
    }
  }
  return { most, proven };
}

/**
 * How many items at the end of the records can be the beginning of `open`, if those of `sure` are
 * among the records before them.
 */
export const tailOf = (
  records: readonly Keyed[],
  sure: readonly Keyed[],
  open: readonly Keyed[],
): number =>
  records.length === 0 || open.length === 0
    ? 0
    : overlap(records, open.slice(0, enoughFor(records, sure, open).most));

/** How many items at the beginning of `open` the records contain in this order. */
export function orderedWithin(records: readonly Keyed[], open: readonly Keyed[]): number {
  let found = 0;
  for (const { key } of records) if (open[found]?.key === key) found++;
  return Math.min(found, open.length);
}

/** The longest end of `list` that the records contain in this order; each item matches the last possible record. */
export function endWithin<T extends Keyed>(list: readonly T[], records: readonly Keyed[]): T[] {
  let from = list.length;
  for (let index = records.length - 1; index >= 0 && from > 0; index--) {
    if (records[index]?.key === list[from - 1]?.key) from--;
  }
  return list.slice(from);
}
