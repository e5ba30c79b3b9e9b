import { heldOf, pairOf, reconcileCounted, type Account, type Reconciled } from './counted';
import type { Recorded } from '../records/recorded';

/**
 * Whether the records are all of `sure` and then the first of `open`, one after the other. That is the usual case, in
 * which nothing was missed and nothing has to be counted.
 */
function areInStep(records: readonly Recorded[], account: Account): boolean {
  const { skip, sure, open, truncated, broken } = account;
  const isPossible = skip === 0 && !truncated && !broken && records.length >= sure.length;
  if (!isPossible || records.length > sure.length + open.length) return false;
  return records.every(({ key }, index) => key === (sure[index] ?? open[index - sure.length])?.key);
}

/** What {@link reconcileCounted} would return for records that are in step. */
function matchInStep(records: readonly Recorded[], { sure, open }: Account): Reconciled {
  const newest = sure.at(-1);
  const found = records[sure.length - 1];
  return {
    due: heldOf([...sure, ...open]),
    missed: [],
    pair: newest && found && pairOf(newest, found, records.slice(0, sure.length)),
    tail: records.length - sure.length,
    unfound: [],
  };
}

/**
 * Matches arrivals with the records after the position. Live events have no id, so equal bodies are counted. What the
 * history contains and did not arrive was missed.
 * @param records oldest first
 */
export const reconcile = (records: readonly Recorded[], account: Account): Reconciled =>
  areInStep(records, account) ? matchInStep(records, account) : reconcileCounted(records, account);
