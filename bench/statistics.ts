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
