const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

export function median(values: readonly number[]): number {
  const all = sorted(values);
  const middle = all.length >> 1;
  const upper = all[middle] ?? NaN;
  return all.length % 2 === 1 ? upper : ((all[middle - 1] ?? NaN) + upper) / 2;
}

export const least = (values: readonly number[]): number => sorted(values)[0] ?? NaN;
export const most = (values: readonly number[]): number => sorted(values).at(-1) ?? NaN;

/** How far the values lie apart, of four or more all but the outer ones, as a part of their median. */
export function spread(values: readonly number[]): number {
  const all = sorted(values);
  const outer = all.length >> 2;
  return ((all.at(-1 - outer) ?? NaN) - (all[outer] ?? NaN)) / median(all);
}
