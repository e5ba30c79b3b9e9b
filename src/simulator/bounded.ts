/** A list that keeps its last `limit` items. */
export interface Bounded<T> {
  readonly items: readonly T[];
  add(item: T): void;
}

export function createBounded<T>(limit: number): Bounded<T> {
  const items: T[] = [];
  return {
    items,
    add(item) {
      items.push(item);
      if (items.length > limit) items.splice(0, items.length - limit);
    },
  };
}
