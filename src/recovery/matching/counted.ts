import { endWithin, enoughFor, overlap, tailOf } from './overlap';
import type { Arrived } from './arrivals';
import type { Due, Recorded } from '../records/recorded';

/** What is known of the uploads after the position. */
export interface Account {
  /** How many an earlier run has emitted: the first ones, unless the history lagged behind. */
  skip: number;
  /** Key of the last one of those. */
  last: string | undefined;
  /** Arrived before the history was requested: it is certain to contain them. */
  sure: readonly Arrived[];
  /** Arrived since then: it may contain the first of them. */
  open: readonly Arrived[];
  /** The history no longer reaches back to the position: its first record is after it. */
  truncated: boolean;
  /** Something may have been missed among `open`: the history need not end with the first of them. */
  broken: boolean;
}

/** The result of comparing the arrivals with the history. */
export interface Reconciled {
  /** What to emit now, in order: missed uploads, and those held back. */
  due: Due[];
  /** Ids of the missed uploads. */
  missed: bigint[];
  /** The times of the newest arrival that was found in the history, live and recorded, if no other record equals it. */
  pair: { arrived: number; recorded: number } | undefined;
  /** How many of `open` the history contains. */
  tail: number;
  /** Those of `sure` that the history does not contain. */
  unfound: Arrived[];
}

export const heldOf = (entries: readonly Arrived[]): Due[] =>
  entries.flatMap(({ held }) => (held ? { upload: () => held } : []));

/** The last record with a key among the first `limit`, or -1. */
function lastIndex(records: readonly Recorded[], key: string | undefined, limit: number): number {
  if (key === undefined) return -1;
  return records.slice(0, limit).findLastIndex((record) => record.key === key);
}

/**
 * Where the records end that an earlier run has emitted: after the one with the key of its last upload. If several
 * have that key, the number of emitted ones decides. The number may be too small, if the history lagged behind and
 * now shows uploads that were missed, or too large, if some records cannot be used.
 */
function emittedUntil(records: readonly Recorded[], { skip, last }: Account): number {
  const key = records[skip - 1]?.key;
  if (last === undefined || key === undefined || key === last) return skip;
  const later = records.findIndex((record, index) => index >= skip && record.key === last);
  if (later >= 0) return later + 1;
  return lastIndex(records, last, skip) + 1 || skip;
}

/** Leaves out the records that an earlier run has emitted. */
function afterEmitted(records: readonly Recorded[], account: Account): readonly Recorded[] {
  const { skip, last, truncated } = account;
  if (skip === 0) return records;
  if (truncated) return records.slice(lastIndex(records, last, skip) + 1);
  const end = emittedUntil(records, account);
  return [...records.slice(0, Math.max(0, end - skip)), ...records.slice(end)];
}

function groupByKey(entries: readonly Arrived[]): Map<string, Arrived[]> {
  const groups = new Map<string, Arrived[]>();
  for (const entry of entries) {
    const same = groups.get(entry.key);
    if (same) same.push(entry);
    else groups.set(entry.key, [entry]);
  }
  return groups;
}

/** How many of `open` the records contain, if they end with the first of them. */
const strictTail = (records: readonly Recorded[], account: Account): number =>
  account.truncated
    ? overlap(records, account.open)
    : tailOf(afterEmitted(records, account), account.sure, account.open);

/**
 * How many of `open` the records contain, anywhere. If this counts too many, equal uploads are recovered later; if it
 * counted too few, some would be emitted twice.
 */
function looseTail(records: readonly Recorded[], account: Account): number {
  const { sure, open, truncated } = account;
  if (!truncated) return enoughFor(afterEmitted(records, account), sure, open).proven;
  const keys = new Set(records.map(({ key }) => key));
  return open.findLastIndex(({ key }) => keys.has(key)) + 1;
}

/** The times of an arrival, live and recorded, if no other record equals it. */
export const pairOf = (
  entry: Arrived,
  found: Recorded,
  records: readonly Recorded[],
): Reconciled['pair'] =>
  records.every((record) => record === found || record.key !== entry.key)
    ? { arrived: entry.timestamp, recorded: found.upload().timestamp }
    : undefined;

/** Matches each record with an arrival of the same key. A record that is left over was missed. */
function matchAll(
  records: readonly Recorded[],
  sure: readonly Arrived[],
  open: readonly Arrived[],
  { truncated }: Account,
): Omit<Reconciled, 'tail'> {
  // An arrival that has left the history must not match an equal record that is still in it.
  const pool = groupByKey(truncated ? endWithin(sure, records) : sure);
  const found = new Set<Arrived>();
  const missed: bigint[] = [];
  const given: Due[] = [];
  let newest: [Arrived, Recorded] | undefined;
  for (const record of records) {
    const { key } = record;
    if (key === undefined) continue;
    // Without arrivals to match, the lookup would hash the key for nothing.
    const entry = pool.size > 0 ? pool.get(key)?.shift() : undefined;
    if (!entry) {
      missed.push(record.id);
      given.push(record);
      continue;
    }
    found.add(entry);
    newest = [entry, record];
    const { held } = entry;
    if (held) given.push({ upload: () => held });
  }
  const pair = newest && pairOf(...newest, records);
  const unfound = sure.filter((entry) => !found.has(entry));
  // Either older than everything that the history still contains, or newer than what it contains so far.
  const rest = heldOf(unfound);
  const due = truncated ? [...rest, ...given] : [...given, ...rest];
  return { due: [...due, ...heldOf(open)], missed, pair, unfound };
}

/** Matches arrivals with records by counting equal ones, wherever they are. */
export function reconcileCounted(records: readonly Recorded[], account: Account): Reconciled {
  const { sure, open, broken } = account;
  const tail = broken ? looseTail(records, account) : strictTail(records, account);
  const body = broken ? records : records.slice(0, Math.max(0, records.length - tail));
  const known = broken ? [...sure, ...open.slice(0, tail)] : sure;
  const rest = broken ? open.slice(tail) : open;
  const matched = matchAll(afterEmitted(body, account), known, rest, account);
  const missing = new Set(matched.unfound);
  return { ...matched, tail, unfound: sure.filter((entry) => missing.has(entry)) };
}
