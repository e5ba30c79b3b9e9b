import type { Upload } from '../upload-event';
import { endWithin, overlap, tailOf } from './overlap';

/** An upload as the history has it, with the key that its bytes and those of a live one share. */
export interface Recorded {
  id: bigint;
  key: string;
  /** Made when it is asked for: most records arrived live, and are looked at by their keys alone. */
  upload: () => Upload;
}

/** An upload that arrived live after the position. */
export interface Arrived {
  key: string;
  timestamp: number;
  /** Held back, not emitted yet. */
  held: Upload | undefined;
  /** The history should have had it the last time and did not: it may lag behind. */
  late: boolean;
}

/** What is known of the uploads after the position. */
export interface Account {
  /** So many, at the beginning, were emitted by an earlier run. */
  skip: number;
  /** Key of the last one of those. */
  last: string | undefined;
  /** Arrived before the history was asked: it has them for certain. */
  sure: readonly Arrived[];
  /** Arrived since: it may have the first of them. */
  open: readonly Arrived[];
  /** The history reaches back no further than to its first record, which is after the position. */
  truncated: boolean;
}

/** What holding arrivals against the history gave. */
export interface Reconciled {
  /** What to emit now, in order: missed uploads, and those held back. */
  due: Upload[];
  /** The newest arrival found in the history: when both say it came. */
  pair: { arrived: number; recorded: number } | undefined;
  /** How many of `open` the history has. */
  tail: number;
  /** Those of `sure` that the history does not have. */
  unfound: Arrived[];
}

const heldOf = (entries: readonly Arrived[]): Upload[] => entries.flatMap(({ held }) => held ?? []);

/** The last record with a key among the first `limit`, or -1. */
function lastIndex(records: readonly Recorded[], key: string | undefined, limit: number): number {
  if (key === undefined) return -1;
  return records.slice(0, limit).findLastIndex((record) => record.key === key);
}

/** How many records at the beginning an earlier run has emitted. */
function skipped(records: readonly Recorded[], { skip, last, truncated }: Account): number {
  return truncated ? lastIndex(records, last, skip) + 1 : Math.min(skip, records.length);
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

/**
 * Holds arrivals against the records after the position, as counted sets of bodies: live events carry
 * no id and history records do. What the history has and did not arrive was missed.
 * @param records oldest first
 */
export function reconcile(records: readonly Recorded[], account: Account): Reconciled {
  const { sure, open, truncated } = account;
  const tail = truncated
    ? overlap(records, open)
    : tailOf(records.slice(skipped(records, account)), sure, open);
  const body = records.slice(0, Math.max(0, records.length - tail));
  const fresh = body.slice(skipped(body, account));
  // What fell out of the history must not be taken for what is in it.
  const pool = groupByKey(truncated ? endWithin(sure, fresh) : sure);
  const found = new Set<Arrived>();
  const missed: Upload[] = [];
  let newest: [Arrived, Recorded] | undefined;
  for (const record of fresh) {
    const entry = pool.get(record.key)?.shift();
    if (!entry) {
      missed.push(record.upload());
      continue;
    }
    found.add(entry);
    newest = [entry, record];
    if (entry.held) missed.push(entry.held);
  }
  const pair = newest && {
    arrived: newest[0].timestamp,
    recorded: newest[1].upload().timestamp,
  };
  const unfound = sure.filter((entry) => !found.has(entry));
  // Older than all that the history has left, or newer than what it has yet.
  const rest = heldOf(unfound);
  const due = truncated ? [...rest, ...missed] : [...missed, ...rest];
  return { due: [...due, ...heldOf(open)], pair, tail, unfound };
}
