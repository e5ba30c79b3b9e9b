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
