import type { Lost } from './lost';
import type { Reconciled } from './counted';

/** What a reading of the history gave. */
export interface Settlement extends Pick<Reconciled, 'due' | 'pair'> {
  /** Equal bodies left it open which record belongs to which arrival: look again soon. */
  ambiguous: boolean;
  /** The history no longer reaches back to the position. */
  truncated: boolean;
  /** Its ids have begun anew, which was not so at the last reading. */
  restored: boolean;
  /** Its newest id is below the position, which was not so at the last reading. */
  behind: Behind | undefined;
  /** What it no longer has and did not arrive, as far as that is known. */
  lost: Lost | undefined;
}

/** A history that has nothing new, whose newest id is below the last one read. */
export interface Behind {
  newest: bigint;
  position: bigint;
  /** Records that may or may not have been there before. */
  unknown: number;
}

/** A reading that gave nothing. */
export const NOTHING: Settlement = {
  ...{ due: [], pair: undefined, ambiguous: false, truncated: false },
  ...{ restored: false, behind: undefined, lost: undefined },
};
