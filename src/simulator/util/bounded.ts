/** A list that keeps its last items. */
export interface Bounded<T> {
  readonly items: readonly T[];
  add(item: T): void;
  /** Drops the newest items from the first one on for which `from` is true. */
  cut(from: (item: T) => boolean): void;
}

/** How many bytes of items a list keeps that others fill. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * @param limit how many items are kept
 * @param sizeOf bytes of an item: the oldest go when all together have more than 64 MiB. The newest stays.
 */
export function createBounded<T>(limit: number, sizeOf: (item: T) => number = () => 0): Bounded<T> {
  const items: T[] = [];
  let bytes = 0;
  return {
    items,
    add(item) {
      items.push(item);
      bytes += sizeOf(item);
      let kept = items.length;
      for (const oldest of items) {
        if (kept <= limit && (bytes <= MAX_BYTES || kept === 1)) break;
        bytes -= sizeOf(oldest);
        kept--;
      }
      if (kept < items.length) items.splice(0, items.length - kept);
    },
    cut(from) {
      const first = items.findIndex(from);
      if (first === -1) return;
      for (const item of items.splice(first)) bytes -= sizeOf(item);
    },
  };
}
