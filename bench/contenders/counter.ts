import { startMeter, type Sample } from '../process/meter';

/** Counts uploads, and measures until all have come. */
export interface Counter {
  count(): void;
  /** Measures from now on. */
  begin(): void;
  /** Waits until so many have come since the beginning; fails if more come. */
  end(expected: number): Promise<Sample>;
}

const PATIENCE = 60_000;
const LOOK = 5;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function createCounter(): Counter {
  let counted = 0;
  let measured = startMeter();

  return {
    count() {
      counted++;
    },
    begin() {
      counted = 0;
      measured = startMeter();
    },
    async end(expected) {
      const deadline = Date.now() + PATIENCE;
      while (counted < expected && Date.now() < deadline) await pause(LOOK);
      const sample = measured(counted);
      if (counted !== expected) throw new Error(`${counted} uploads came, not ${expected}.`);
      return sample;
    },
  };
}
