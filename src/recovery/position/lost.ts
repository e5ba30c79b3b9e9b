import type { Recorded } from '../records/recorded';
import type { Since } from './since';

/** A range of ids of which the history contains nothing any longer. */
export interface Lost {
  after: bigint;
  before: bigint;
}

/**
 * Whether ids are consecutive, as if they were counted for this device alone.
 * @param records by id, each id once
 */
function isCounted(records: readonly Recorded[]): boolean {
  const first = records[0]?.id ?? 0n;
  const last = records.at(-1)?.id ?? 0n;
  return records.length > 1 && last - first === BigInt(records.length - 1);
}

/**
 * Finds what a history that no longer reaches back to the position has lost, as far as its ids show. They may be counted
 * across an application: then not every missing number is an upload of this device.
 * @param position the newest id that was known, -1 if the history was empty
 * @param arrived how many uploads arrived that the history no longer contains
 */
export function lostBefore(since: Since, position: bigint, arrived: number): Lost | undefined {
  const { fresh, truncated, restored } = since;
  const first = fresh[0]?.id;
  if (first === undefined || restored) return undefined;
  if (!truncated && (position >= 0n || !isCounted(fresh))) return undefined;
  const after = position < 0n ? 0n : position;
  return first - after - 1n > BigInt(arrived) ? { after, before: first } : undefined;
}
