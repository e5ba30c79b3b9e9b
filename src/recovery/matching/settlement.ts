import type { Lost } from '../position/lost';
import type { Reconciled } from './counted';

/** The result of a reading of the history. */
export interface Settlement extends Pick<Reconciled, 'due' | 'pair'> {
  /** Because of equal bodies, several matches are possible: the history is read again soon. */
  ambiguous: boolean;
  /** The history no longer reaches back to the position. */
  truncated: boolean;
  /** Its ids have started over since the last reading. */
  restored: boolean;
  /** Its newest id has fallen below the position since the last reading. */
  behind: Behind | undefined;
  /** What it no longer contains and did not arrive either, as far as that is known. */
  lost: Lost | undefined;
}

/** A history without anything new whose newest id is below the last one read. */
export interface Behind {
  newest: bigint;
  position: bigint;
  /** Records that may or may not have been there before. */
  unknown: number;
}

/** A reading without a result. */
export const NOTHING: Settlement = {
  ...{ due: [], pair: undefined, ambiguous: false, truncated: false },
  ...{ restored: false, behind: undefined, lost: undefined },
};
