/** Something with the key of its body; without one, it may be any. */
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
 * The largest number of items at the beginning of `open` with which the records can end. When the
 * records reach back a little only, they may begin in the middle of those.
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

/** How many items at the beginning of `open` the records have enough of. */
interface Enough {
  /** Counting those that only a record without a key can be. */
  most: number;
  /** Without those at the end: an item that is followed by one that the records have is there as well. */
  proven: number;
}

/**
 * How many items at the beginning of `open` the records have enough of, if they have those of `sure`,
 * too. Nothing is said of their order: something may have been missed between them.
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

/** How many items at the beginning of `open` stand among the records in this order. */
export function orderedWithin(records: readonly Keyed[], open: readonly Keyed[]): number {
  let found = 0;
  for (const { key } of records) if (open[found]?.key === key) found++;
  return Math.min(found, open.length);
}

/** The longest end of `list` whose items stand among the records in this order, as late as they can. */
export function endWithin<T extends Keyed>(list: readonly T[], records: readonly Keyed[]): T[] {
  let from = list.length;
  for (let index = records.length - 1; index >= 0 && from > 0; index--) {
    if (records[index]?.key === list[from - 1]?.key) from--;
  }
  return list.slice(from);
}
