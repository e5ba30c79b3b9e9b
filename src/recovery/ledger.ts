import type { Upload } from '../upload-event';
import { endsWith, overlap, tailOf } from './overlap';

/** An upload as the history has it, with the key that its bytes and those of a live one share. */
export interface Recorded {
  id: bigint;
  key: string;
  upload: Upload;
}

/** How far the uploads of a device have been emitted; small enough to be saved with each one. */
export interface Position {
  /** Newest history id known to be emitted. */
  id: string;
  /** How many were emitted live after it, whose ids are not known. */
  live: number;
  /** Key of the last one of those. */
  last?: string;
  /** The keys of those, instead of how many, while it is not sure that nothing was missed before them. */
  keys?: string[];
}

/** An upload that arrived live after the position. */
interface Arrived {
  key: string;
  timestamp: number;
  /** Held back, not emitted yet. */
  held: Upload | undefined;
  /** The history should have had it the last time and did not: it may lag behind. */
  late: boolean;
}

const arrival = (key: string, timestamp: number, held?: Upload): Arrived => ({
  key,
  timestamp,
  held,
  late: false,
});

/** What holding arrivals against the history gave. */
export interface Settlement {
  /** What to emit now, in order: missed uploads, and those held back. */
  due: Upload[];
  /** Arrivals found in the history: when both say they came. */
  pairs: { arrived: number; recorded: number }[];
  /** Equal bodies left it open which record belongs to which arrival: look again soon. */
  ambiguous: boolean;
}

/**
 * Keeps account of one device: what arrived live since the newest history id known to be emitted.
 * Live events carry no id and history records do, so the two are matched by their bytes, as a counted
 * set: two equal readings stay two. Uploads reach the history before, or with, the channel.
 */
export function createLedger(start?: Position) {
  let position = start && BigInt(start.id);
  /** Emitted by an earlier run after the position: the first so many records. */
  let skip = start?.live ?? 0;
  let last = start?.last;
  let arrived: Arrived[] = (start?.keys ?? []).map((key) => arrival(key, NaN));
  let unsure = arrived.length > 0;
  /** Arrivals before the history was asked: its answer has them for certain. */
  let certain = 0;
  let heldBack = 0;
  /** Where the arrivals of the present connection begin. */
  let connection = arrived.length;

  const settleNew = (records: Recorded[], truncated: boolean): Settlement => {
    const open = arrived.slice(certain);
    const sure = arrived.slice(0, certain);
    const tail = truncated
      ? overlap(records, open)
      : tailOf(records.slice(Math.min(skip, records.length)), sure, open);
    const body = records.slice(0, records.length - tail);
    unsure = isAmbiguous(records, sure.slice(connection), open, tail);
    const due: Upload[] = [];
    const pairs: Settlement['pairs'] = [];

    // What fell out of the history must not be taken for what is in it.
    const inHistory = truncated ? sure.slice(sure.length - overlap(sure, body)) : sure;
    const pool = new Map<string, Arrived[]>();
    for (const entry of inHistory) {
      const same = pool.get(entry.key);
      if (same) same.push(entry);
      else pool.set(entry.key, [entry]);
    }
    const skipped = truncated ? lastIndex(body, last, skip) + 1 : Math.min(skip, body.length);
    const found = new Set<Arrived>();
    for (const record of body.slice(skipped)) {
      const entry = pool.get(record.key)?.shift();
      if (!entry) {
        due.push(record.upload);
        continue;
      }
      found.add(entry);
      pairs.push({ arrived: entry.timestamp, recorded: record.upload.timestamp });
      if (entry.held) due.push(entry.held);
    }
    const unfound = sure.filter((entry) => !found.has(entry));
    for (const { held } of [...unfound, ...open]) if (held) due.push(held);

    const late = truncated ? [] : unfound.filter((entry) => !entry.late);
    const rest = open.slice(tail);
    connection = late.length;
    arrived = [...late.map((entry) => ({ ...entry, late: true })), ...rest];
    for (const entry of arrived) entry.held = undefined;
    return { due, pairs, ambiguous: unsure };
  };

  return {
    /** How many arrivals are on account. */
    get size() {
      return arrived.length;
    },
    get hasPosition() {
      return position !== undefined;
    },
    /** A new connection: what arrives from now on follows without a gap. */
    connect(): void {
      connection = arrived.length;
    },
    /** Notes an arrival. @param held the upload itself if it is held back */
    add(key: string, timestamp: number, held?: Upload): void {
      arrived.push(arrival(key, timestamp, held));
      if (held) heldBack++;
      else last = key;
    },
    /** The history is asked now. */
    mark(): void {
      certain = arrived.length;
    },
    /** Forgets what is held back: the history has it. */
    drop(): void {
      if (heldBack === 0) return;
      heldBack = 0;
      arrived = arrived.filter(({ held }) => !held);
      certain = Math.min(certain, arrived.length);
    },
    /** Gives what is held back, to be emitted after all. */
    release(): Upload[] {
      const held = arrived.flatMap((entry) => entry.held ?? []);
      for (const entry of arrived) {
        if (entry.held) last = entry.key;
        entry.held = undefined;
      }
      heldBack = 0;
      return held;
    },
    /**
     * Holds the history against the arrivals. Without a position yet, the history only gives one:
     * what came before the first connection is not owed.
     * @param records all that the history gave, by id, oldest first
     */
    settle(records: Recorded[]): Settlement {
      const before = position;
      const newest = records.at(-1);
      position =
        newest && (before === undefined || newest.id > before) ? newest.id : (before ?? -1n);
      if (before === undefined) {
        const open = arrived.slice(certain);
        const tail = overlap(records, open);
        arrived = open.slice(tail);
        connection = 0;
        certain = 0;
        unsure = isAmbiguous(records, [], open, tail);
        return { due: [], pairs: [], ambiguous: unsure };
      }
      const fresh = records.filter(({ id }) => id > before);
      const truncated = before >= 0n && records.length > 0 && fresh.length === records.length;
      const settlement = settleNew(fresh, truncated);
      heldBack = 0;
      certain = 0;
      skip = 0;
      last = arrived.at(-1)?.key;
      return settlement;
    },
    /** How far the uploads have been emitted; undefined before the history was read for the first time. */
    position(): Position | undefined {
      if (position === undefined) return undefined;
      const id = String(position);
      if (unsure) {
        const emitted = arrived.filter(({ held }) => !held);
        return { id, live: skip, keys: emitted.map(({ key }) => key) };
      }
      const live = skip + arrived.length - heldBack;
      const saved: Position = { id, live };
      return last === undefined || live === 0 ? saved : { ...saved, last };
    },
  };
}

export type Ledger = ReturnType<typeof createLedger>;

/** The last record with a key among the first `limit`, or -1. */
function lastIndex(records: readonly Recorded[], key: string | undefined, limit: number): number {
  if (key === undefined) return -1;
  for (let index = Math.min(limit, records.length) - 1; index >= 0; index--) {
    if (records[index]?.key === key) return index;
  }
  return -1;
}

/**
 * Whether the history could as well end with fewer or more of the arrivals that it may have. What
 * arrived on this connection stands in it without a gap, which leaves one way unless bodies repeat.
 */
function isAmbiguous(
  records: readonly Recorded[],
  sure: readonly Arrived[],
  open: readonly Arrived[],
  tail: number,
): boolean {
  for (let other = 0; other <= open.length; other++) {
    if (other !== tail && endsWith(records, [...sure, ...open.slice(0, other)])) return true;
  }
  return false;
}
