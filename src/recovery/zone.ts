import { BEIJING } from '../beijing';

const QUARTER = 15 * 60_000;

/** Zones lie within this of UTC; a larger difference is no zone but a clock that is wrong. */
const WIDEST = 14 * 60 * 60_000;

/**
 * The time zone of the history's `YYYY-MM-DD HH:MM:SS`, which is not shown. It is learned from uploads
 * that came both ways, since live ones carry Unix time; until then it is taken to be Beijing's.
 */
export interface Zone {
  /** Milliseconds since 1970 of a time as the history writes it. NaN if it is none. */
  toUnix(text: unknown): number;
  /** An upload that came live at one Unix time stands in the history at another one. */
  learn(live: number, recorded: number): void;
}

export function createZone(): Zone {
  let offset = BEIJING;
  return {
    toUnix(text) {
      return typeof text === 'string' ? Date.parse(`${text.replace(' ', 'T')}Z`) - offset : NaN;
    },
    learn(live, recorded) {
      const better = offset + Math.round((recorded - live) / QUARTER) * QUARTER;
      if (Math.abs(better) <= WIDEST) offset = better;
    },
  };
}
