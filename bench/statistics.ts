/** Of several values: the one in the middle, the least and the most. */
export interface Summary {
  median: number;
  least: number;
  most: number;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? NaN;
  const middle = (sorted.length - 1) / 2;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    least: at(0),
    most: at(sorted.length - 1),
  };
}

/** One value by another, round by round: what disturbs the machine for long disturbs both. */
export const ratios = (values: readonly number[], by: readonly number[]): number[] =>
  values.map((value, round) => value / (by[round] ?? NaN));

/** How often a coin that was tossed `tosses` times may show the rarer side, if that is to be chance in 5 % of all cases at most; below 0 if nothing is. */
export function exceptions(tosses: number): number {
  let ways = 1;
  let below = 0;
  for (let count = 0; count <= tosses; count++) {
    below += ways / 2 ** tosses;
    if (below > 0.05) return count - 1;
    ways *= (tosses - count) / (count + 1);
  }
  return tosses;
}

/** Values without the exceptions at either end: the range in which the true median is, in nine of ten cases. Of fewer than five, no range. */
export function confident(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const left = exceptions(sorted.length);
  return summarize(left < 0 ? [] : sorted.slice(left, sorted.length - left));
}
