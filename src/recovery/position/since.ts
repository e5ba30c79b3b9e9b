import type { Edge } from './edge';
import { EdgeMemory } from './edge-memory';
import type { Recorded } from '../records/recorded';

/** The records after the position, and whether they may be incomplete. */
export interface Since<T extends Recorded = Recorded> {
  fresh: T[];
  /** The history no longer reaches back to the position: what was between them is unknown. */
  truncated: boolean;
  /** The ids of the history do not continue from the position: it was restored, or started over. */
  restored: boolean;
  /** Set if the history contains nothing new and its newest id is below the position. */
  behind?: {
    /** Records that may or may not have been there before. */
    unknown: number;
  };
}

/** Ids continue, or seem to: some may have been assigned a second time since the last reading. */
function ongoing<T extends Recorded>(
  records: readonly T[],
  position: bigint,
  edge: EdgeMemory | undefined,
): Since<T> {
  const reused = edge?.lowestReused();
  const timed = edge?.isInOtherZone() ? undefined : edge;
  const isAgain = (record: T): boolean =>
    timed?.isLater(record) === true ||
    timed?.isNewInLatestSecond(record) === true ||
    (reused !== undefined && record.id >= reused);
  const fresh = records.filter((record) => record.id > position || isAgain(record));
  const restored = fresh.some(({ id }) => id <= position);
  if (restored) return { fresh, truncated: true, restored };
  const truncated = position >= 0n && fresh.length > 0 && fresh.length === records.length;
  return { fresh, truncated, restored };
}

/** All ids are below the position: they have started over, or this is an older copy. */
function setBack<T extends Recorded>(
  records: readonly T[],
  edge: EdgeMemory | undefined,
): Since<T> {
  const verdicts = records.map((record) => edge?.verdictOn(record) ?? 'new');
  const reused = verdicts.indexOf('reused');
  const fresh = records.filter((_, index) => {
    const verdict = verdicts[index];
    return verdict === 'unknown' ? reused >= 0 && index > reused : verdict !== 'seen';
  });
  if (fresh.length > 0) return { fresh, truncated: true, restored: true };
  // An older copy contains nothing new before a record that was seen.
  const unknown = records.length - 1 - verdicts.lastIndexOf('seen');
  return { fresh, truncated: false, restored: false, behind: { unknown } };
}

/**
 * Finds the records after the position. Ids increase, so these are the ones with higher ids. If all ids are below the
 * position, or one now belongs to another record, ids have started over: then the edge shows what was there before.
 * @param records by id, oldest first
 */
export function recordsSince<T extends Recorded>(
  records: readonly T[],
  position: bigint,
  edge: Edge | undefined,
): Since<T> {
  const newest = records.at(-1)?.id;
  const memory = edge && new EdgeMemory(edge, records);
  return newest !== undefined && newest < position
    ? setBack(records, memory)
    : ongoing(records, position, memory);
}
