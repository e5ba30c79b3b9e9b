import type { Recorded } from './recorded';

/** The latest records of a history, by which it is known again. */
export interface Edge {
  /** The latest `create_time` among its records, as the service writes it. */
  time: string;
  /** The keys of bodies of that time, as they are written; of the newest only. */
  keys: string[];
}

/** Keys at most: more uploads of one second are told apart by their ids alone. */
const MAX_KEYS = 8;

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const timeOf = ({ time = '' }: Recorded): string => (TIME.test(time) ? time : '');

/** The edge of an answer. @param records by id, oldest first */
export function edgeOf(records: readonly Recorded[], before: Edge | undefined): Edge | undefined {
  if (records.length === 0) return before;
  let time = '';
  for (const record of records) {
    const other = timeOf(record);
    if (other > time) time = other;
  }
  const keys: string[] = [];
  for (let index = records.length - 1; index >= 0 && keys.length < MAX_KEYS; index--) {
    const record = records[index];
    if (record?.mark !== undefined && timeOf(record) === time) keys.push(record.mark);
  }
  return { time, keys };
}

/** Which records are later than all that the answer with this edge had. */
const laterThan = (records: readonly Recorded[], edge: Edge | undefined): Set<Recorded> =>
  new Set(edge?.time ? records.filter((record) => timeOf(record) > edge.time) : []);

/**
 * Which records an earlier answer cannot have had: later ones, and others of its latest second, unless
 * that second had more than are remembered.
 */
function unseenSince(records: readonly Recorded[], edge: Edge | undefined): Set<Recorded> {
  if (!edge) return new Set(records);
  const seen = [...edge.keys];
  const isFull = edge.time !== '' && seen.length >= MAX_KEYS;
  return new Set(
    records.filter((record) => {
      const time = timeOf(record);
      if (edge.time !== '' && time !== '' && time !== edge.time) return time > edge.time;
      if (isFull && time === edge.time) return false;
      const place = record.mark === undefined ? 0 : seen.indexOf(record.mark);
      if (place < 0) return true;
      seen.splice(place, 1);
      return false;
    }),
  );
}

/** The records after the position, and how far they can be trusted to be all. */
export interface Since<T extends Recorded = Recorded> {
  fresh: T[];
  /** The position is no longer in the history: of what lies between, nothing is known. */
  truncated: boolean;
  /** The ids of the history do not go on where they were: it was restored, or begins anew. */
  restored: boolean;
}

/**
 * Finds what came after the position. Ids increase, so that these are the higher ones; where a record
 * with a lower id is later than all that was there before, ids have begun anew, and time decides.
 * @param records by id, oldest first
 */
export function recordsSince<T extends Recorded>(
  records: readonly T[],
  position: bigint,
  edge: Edge | undefined,
): Since<T> {
  const fresh = records.filter(({ id }) => id > position);
  const below = records.length - fresh.length;
  const isReset = fresh.length === 0 && records.length > 0 && records.at(-1)?.id !== position;
  const unseen = isReset ? unseenSince(records, edge) : laterThan(records, edge);
  const since = records.filter((record) => record.id > position || unseen.has(record));
  if (since.length > fresh.length) return { fresh: since, truncated: true, restored: true };
  const truncated = position >= 0n && fresh.length > 0 && below === 0;
  return { fresh, truncated, restored: false };
}
