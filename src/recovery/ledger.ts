import type { Upload } from '../upload-event';
import { endsWith, overlap } from './overlap';
import { reconcile, type Arrived, type Reconciled, type Recorded } from './reconcile';

/** How far the uploads of a device have been emitted; small enough to be saved with each one. */
export interface Position {
  /** Newest history id known to be emitted. */
  id: string;
  /** How many were emitted live after it, whose ids are not known. */
  live: number;
  /** Key of the last one of those. */
  last?: string;
  /** The keys of those that followed, while it is not sure that nothing was missed before them. */
  keys?: string[];
}

/** What a reading of the history gave. */
export interface Settlement extends Pick<Reconciled, 'due' | 'pair'> {
  /** Equal bodies left it open which record belongs to which arrival: look again soon. */
  ambiguous: boolean;
  /** The history no longer reaches back to the position: what it has lost cannot be recovered. */
  truncated: boolean;
}

const NOTHING: Settlement = { due: [], pair: undefined, ambiguous: false, truncated: false };

const arrival = (key: string, timestamp: number, held?: Upload): Arrived => ({
  key,
  timestamp,
  held,
  late: false,
});

/**
 * Keeps account of one device: what arrived live since the newest history id known to be emitted.
 * Live events carry no id and history records do, so the two are matched by their bytes, as a counted
 * set: two equal readings stay two. Uploads reach the history before, or with, the channel.
 */
export function createLedger(start?: Position) {
  let position = start && BigInt(start.id);
  /** Emitted by an earlier run after the position: the first so many records. */
  let skip = start?.live ?? 0;
  /** Key of the last one of those. */
  let last = start?.last;
  let arrived: Arrived[] = (start?.keys ?? []).map((key) => arrival(key, NaN));
  /** Something may have been missed before an arrival: a number would not say which are emitted. */
  let unsure = arrived.length > 0;
  /** Arrivals before the history was asked: its answer has them for certain. */
  let certain = 0;
  let heldBack = 0;
  /** Where the arrivals of the present connection begin. */
  let connection = arrived.length;

  /** Arrivals of the present connection stand in the history without a gap: see {@link endsWith}. */
  const isAmbiguous = (records: readonly Recorded[], tail: number): boolean => {
    const sure = arrived.slice(connection, certain);
    const open = arrived.slice(certain);
    for (let other = 0; other <= open.length; other++) {
      if (other !== tail && endsWith(records, sure, open, other)) return true;
    }
    return false;
  };

  /** The first reading only tells where the history stands: what came before it is not owed. */
  const settleFirst = (records: Recorded[], insist: boolean): Settlement => {
    const open = arrived.slice(certain);
    const tail = records.length === 0 ? 0 : overlap(records, open);
    const ambiguous = isAmbiguous(records, tail);
    if (ambiguous && !insist) return { ...NOTHING, ambiguous };
    position = records.at(-1)?.id ?? -1n;
    arrived = open.slice(tail);
    connection = 0;
    unsure = ambiguous;
    return NOTHING;
  };

  const settleNew = (records: Recorded[], truncated: boolean): Settlement => {
    const sure = arrived.slice(0, certain);
    const open = arrived.slice(certain);
    const account = { skip, last, sure, open, truncated };
    const { due, pair, tail, unfound } = reconcile(records, account);
    const ambiguous = isAmbiguous(records, tail);
    const late = truncated ? [] : unfound.filter((entry) => !entry.late);
    arrived = [...late.map((entry) => ({ ...entry, late: true })), ...open.slice(tail)];
    for (const entry of arrived) entry.held = undefined;
    connection = late.length;
    position = records.at(-1)?.id ?? position;
    unsure = ambiguous || late.length > 0;
    skip = 0;
    last = undefined;
    heldBack = 0;
    return { due, pair, ambiguous, truncated };
  };

  return {
    /** How many arrivals are on account. */
    size: () => arrived.length,
    hasPosition: () => position !== undefined,
    /** What arrives from now on follows without a gap, but perhaps after one. */
    gap(): void {
      connection = arrived.length;
      unsure = true;
    },
    /** Notes an arrival. @param held the upload itself if it is held back */
    add(key: string, timestamp: number, held?: Upload): void {
      arrived.push(arrival(key, timestamp, held));
      if (held) heldBack++;
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
      for (const entry of arrived) entry.held = undefined;
      heldBack = 0;
      return held;
    },
    /**
     * Holds the history against the arrivals.
     * @param records all that the history gave, by id, oldest first
     * @param insist take a first reading for good, even if it is ambiguous
     */
    settle(records: Recorded[], insist = false): Settlement {
      const before = position;
      const fresh = before === undefined ? records : records.filter(({ id }) => id > before);
      const truncated =
        (before ?? -1n) >= 0n && fresh.length > 0 && fresh.length === records.length;
      const settlement =
        before === undefined ? settleFirst(records, insist) : settleNew(fresh, truncated);
      certain = 0;
      return settlement;
    },
    /** How far the uploads have been emitted; undefined before the history was read for the first time. */
    position(): Position | undefined {
      if (position === undefined) return undefined;
      const id = String(position);
      if (unsure) {
        const keys = arrived.filter(({ held }) => !held).map(({ key }) => key);
        return { id, live: skip, ...(last !== undefined && { last }), keys };
      }
      // Asked for with every upload: the arrivals are counted already, and the newest stands at the end.
      const live = skip + arrived.length - heldBack;
      const newest = arrived.findLast(({ held }) => !held)?.key ?? last;
      return newest === undefined ? { id, live } : { id, live, last: newest };
    },
  };
}

export type Ledger = ReturnType<typeof createLedger>;
