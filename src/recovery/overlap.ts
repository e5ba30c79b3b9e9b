interface Keyed {
  key: string;
}

/** Whether `count` items from `a[from]` on equal the first items of `b`. */
function equal(a: readonly Keyed[], from: number, b: readonly Keyed[], count: number): boolean {
  for (let index = 0; index < count; index++) {
    if (a[from + index]?.key !== b[index]?.key) return false;
  }
  return true;
}

/** The largest number of items that are both the end of the first list and the beginning of the second. */
export function overlap(first: readonly Keyed[], second: readonly Keyed[]): number {
  let count = Math.min(first.length, second.length);
  while (count > 0 && !equal(first, first.length - count, second, count)) count--;
  return count;
}

/** Whether a list ends with another one. */
export function endsWith(list: readonly Keyed[], end: readonly Keyed[]): boolean {
  return list.length >= end.length && equal(list, list.length - end.length, end, end.length);
}

/** How often each key stands in a list. */
export function countKeys(items: readonly Keyed[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { key } of items) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/**
 * How many items at the end of the records can be the beginning of `open`, if those of `sure` are
 * among the records before them.
 */
export function tailOf(
  records: readonly Keyed[],
  sure: readonly Keyed[],
  open: readonly Keyed[],
): number {
  const spare = countKeys(records);
  for (const [key, count] of countKeys(sure)) {
    const found = spare.get(key);
    if (found !== undefined) spare.set(key, Math.max(0, found - count));
  }
  let most = 0;
  for (const { key } of open) {
    const left = spare.get(key) ?? 0;
    if (left === 0) break;
    spare.set(key, left - 1);
    most++;
  }
  return overlap(records, open.slice(0, most));
}
