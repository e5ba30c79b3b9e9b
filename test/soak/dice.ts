import { seededRandom } from '../../src/simulator/sensors';

/** Random choices that a seed repeats. */
export interface Dice {
  /** A number from `low` up to `high`. */
  between(low: number, high: number): number;
  /** A whole number from 0 up to, not including, `sides`. */
  roll(sides: number): number;
  pick<T>(items: readonly T[]): T;
}

export function createDice(seed: string): Dice {
  const random = seededRandom(seed);
  const roll = (sides: number): number => Math.floor(random() * sides);
  return {
    between: (low, high) => low + random() * (high - low),
    roll,
    pick<T>(items: readonly T[]): T {
      const item = items[roll(items.length)];
      if (item === undefined) throw new RangeError('There is nothing to pick from.');
      return item;
    },
  };
}
