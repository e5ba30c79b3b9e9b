import type { Upload } from '../channel/frames';
import { edgeOf, recordsSince, type Edge, type Since } from './edge';
import type { Encoding } from './facts';
import { joinKeys, splitKeys, type LiveKeys } from './keys';
import { lostBefore, type Lost } from './lost';
import { endsWith, orderedWithin, overlap } from './overlap';
import type { Position } from './position';
import { reconcile, type Arrived, type Reconciled, type Recorded } from './reconcile';

/** What a reading of the history gave. */
export interface Settlement extends Pick<Reconciled, 'due' | 'pair'> {
  /** Equal bodies left it open which record belongs to which arrival: look again soon. */
  ambiguous: boolean;
  /** The history no longer reaches back to the position. */
  truncated: boolean;
  /** Its ids have begun anew; the position stands in the new ones. */
  restored: boolean;
  /** What it no longer has and did not arrive, as far as that is known. */
  lost: Lost | undefined;
}

const NOTHING: Settlement = {
  ...{ due: [], pair: undefined, ambiguous: false },
  ...{ truncated: false, restored: false, lost: undefined },
};

/** An arrival whose bytes are no text: which key its record has depends on how the history is written. */
interface Binary extends Arrived, LiveKeys {}

const keysOf = (entry: Arrived): LiveKeys =>
  'bytes' in entry ? (entry as Binary) : { text: entry.key, bytes: entry.key };

/**
 * Keeps account of one device: what arrived live since the newest history id known to be emitted.
 * Live events carry no id and history records do, so the two are matched by their bytes, as a counted
 * set: two equal readings stay two. Uploads reach the history before, or with, the channel.
 */
export class Ledger {
  private id: bigint | undefined;
  private edge: Edge | undefined;
  /** Emitted by an earlier run after the position: the first so many records. */
  private skip: number;
  /** Key of the last one of those. */
  private last: string | undefined;
  private arrived: Arrived[] = [];
  /** Something may have been missed before an arrival: a number would not say which are emitted. */
  private unsure: boolean;
  /** Something may have been missed since the position. */
  private missing = true;
  /** Arrivals before the history was asked: its answer has them for certain. */
  private certain = 0;
  /** Something may have been missed since then. */
  private gapped = false;
  private heldBack = 0;
  /** Where the arrivals begin that follow each other without a gap. */
  private unbroken: number;

  /** @param encoding how the history writes bodies, as far as that is known */
  constructor(
    start?: Position,
    private encoding: Encoding = 'text',
  ) {
    this.id = start && BigInt(start.id);
    this.edge = start?.edge;
    this.skip = start?.live ?? 0;
    this.last = start?.last;
    for (const saved of start?.keys ?? []) {
      const { text, bytes } = splitKeys(saved);
      this.add(text, NaN, undefined, bytes);
    }
    this.unsure = this.arrived.length > 0;
    this.unbroken = this.arrived.length;
  }

  /** How many arrivals are on account. */
  get size(): number {
    return this.arrived.length;
  }

  get hasPosition(): boolean {
    return this.id !== undefined;
  }

  /** What arrives from now on follows without a gap, but perhaps after one. */
  gap(): void {
    this.unbroken = this.arrived.length;
    this.gapped = true;
    this.unsure = true;
    this.missing = true;
  }

  /**
   * Notes an arrival.
   * @param key of what the history has if it writes text
   * @param held the upload itself if it is held back
   * @param bytes key of what it has if it writes Base64
   */
  add(key: string, timestamp: number, held?: Upload, bytes = key): void {
    const isText = bytes === key;
    const entry = arrival(this.keyIn({ text: key, bytes }), timestamp, held);
    this.arrived.push(isText ? entry : Object.assign(entry, { text: key, bytes }));
    if (held) this.heldBack++;
  }

  /** The history is asked now. */
  mark(): void {
    this.certain = this.arrived.length;
    this.gapped = false;
  }

  /** How the history writes bodies, which decides by which keys its records are found. */
  setEncoding(encoding: Encoding): void {
    if (encoding === this.encoding) return;
    this.encoding = encoding;
    for (const entry of this.arrived) {
      entry.key = this.keyIn(keysOf(entry));
    }
  }

  /** Forgets what is held back: the history has it. */
  drop(): void {
    if (this.heldBack === 0) return;
    this.heldBack = 0;
    this.missing = true;
    this.arrived = this.arrived.filter(({ held }) => !held);
    this.certain = Math.min(this.certain, this.arrived.length);
    this.unbroken = Math.min(this.unbroken, this.arrived.length);
  }

  /** Gives what is held back, to be emitted after all. */
  release(): Upload[] {
    const held = this.arrived.flatMap((entry) => entry.held ?? []);
    for (const entry of this.arrived) entry.held = undefined;
    this.heldBack = 0;
    return held;
  }

  /** The records after the position: all of them before the first reading. */
  since<T extends Recorded>(records: readonly T[]): Since<T> {
    return this.id === undefined
      ? { fresh: [...records], truncated: false, restored: false }
      : recordsSince(records, this.id, this.edge);
  }

  /** Keys of what arrived, as texts and as bytes. */
  arrivedKeys(): LiveKeys[] {
    const keys = this.arrived.map(keysOf);
    return this.last === undefined ? keys : [splitKeys(this.last), ...keys];
  }

  /** What settling would find missed, as text: to compare one way of reading the records with another. */
  preview(records: readonly Recorded[]): string {
    const open = this.arrived.slice(this.certain);
    if (this.id === undefined) return String(this.firstTail(records, open));
    const { tail, missed } = this.reconcile(this.since(records));
    return `${tail}:${missed.join()}`;
  }

  /**
   * Whether settling would find something missed that is like what has arrived since the history was
   * asked. Where records cannot be read, it may be just that.
   */
  isRisky(records: readonly Recorded[]): boolean {
    if (this.id === undefined) return false;
    const since = this.since(records);
    const { tail, missed } = this.reconcile(since);
    const open = new Set(this.arrived.slice(this.certain + tail).map(({ key }) => key));
    const ids = new Set(missed);
    return since.fresh.some(({ id, key = '' }) => ids.has(id) && open.has(key));
  }

  /**
   * Holds the history against the arrivals.
   * @param records all that the history gave, by id, oldest first
   * @param insist take a first reading for good, even if it is ambiguous
   */
  settle(records: readonly Recorded[], insist = false): Settlement {
    const settlement =
      this.id === undefined ? this.settleFirst(records, insist) : this.settleNew(records);
    this.certain = 0;
    return settlement;
  }

  /** How far the uploads have been emitted; undefined before the history was read for the first time. */
  position(): Position | undefined {
    if (this.id === undefined) return undefined;
    const { skip, last, edge, arrived } = this;
    const position: Position = { id: String(this.id), live: skip };
    if (edge) position.edge = edge;
    if (this.unsure) {
      if (last !== undefined) position.last = last;
      position.keys = arrived.filter(({ held }) => !held).map((entry) => joinKeys(keysOf(entry)));
      return position;
    }
    // Asked for with every upload: the arrivals are counted already, and the newest stands at the end.
    position.live += arrived.length - this.heldBack;
    const newest = arrived.findLast(({ held }) => !held);
    if (newest) position.last = joinKeys(keysOf(newest));
    else if (last !== undefined) position.last = last;
    return position;
  }

  private keyIn({ text, bytes }: LiveKeys): string {
    return this.encoding === 'text' ? text : bytes;
  }

  /** Whether a gap since the history was asked may be later than its answer. */
  private isOpenGap(tail: number): boolean {
    return this.gapped && this.unbroken - this.certain >= tail;
  }

  /** Whether something may have been missed among what arrived since the history was asked. */
  private get broken(): boolean {
    return this.unbroken > this.certain;
  }

  /** Arrivals of the present connection stand in the history without a gap: see {@link endsWith}. */
  private isAmbiguous(records: readonly Recorded[], tail: number): boolean {
    const sure = this.arrived.slice(this.unbroken, this.certain);
    const open = this.arrived.slice(this.certain);
    for (let other = 0; other <= open.length; other++) {
      if (other !== tail && endsWith(records, sure, open, other)) return true;
    }
    return false;
  }

  private firstTail(records: readonly Recorded[], open: readonly Arrived[]): number {
    if (records.length === 0) return 0;
    if (!this.broken) return overlap(records, open);
    // Not in the whole of it: what is equal to an arrival may have been there for long.
    return orderedWithin(records.slice(-2 * open.length), open);
  }

  /** The first reading only tells where the history stands: what came before it is not owed. */
  private settleFirst(records: readonly Recorded[], insist: boolean): Settlement {
    const open = this.arrived.slice(this.certain);
    const tail = this.firstTail(records, open);
    const ambiguous = this.broken || this.isAmbiguous(records, tail);
    if (ambiguous && !insist) return { ...NOTHING, ambiguous };
    this.id = records.at(-1)?.id ?? -1n;
    this.edge = edgeOf(records, undefined);
    this.unsure = ambiguous || this.isOpenGap(tail);
    this.missing = this.unsure;
    this.arrived = open.slice(tail);
    this.unbroken = Math.max(0, this.unbroken - this.certain - tail);
    return NOTHING;
  }

  private reconcile({ fresh, truncated }: Since): Reconciled {
    const { skip, arrived, certain, broken } = this;
    const last = this.last === undefined ? undefined : this.keyIn(splitKeys(this.last));
    const [sure, open] = [arrived.slice(0, certain), arrived.slice(certain)];
    return reconcile(fresh, { skip, last, sure, open, truncated, broken });
  }

  private settleNew(records: readonly Recorded[]): Settlement {
    const since = this.since(records);
    const { fresh, truncated, restored } = since;
    const { due, pair, tail, unfound } = this.reconcile(since);
    const { broken } = this;
    const ambiguous = !broken && this.isAmbiguous(fresh, tail);
    const lost = this.missing
      ? lostBefore(since, this.id ?? -1n, unfound.length + this.skip)
      : undefined;
    const late = truncated ? [] : unfound.filter((entry) => !entry.late);
    const isOpenGap = this.isOpenGap(tail);
    const gapAt = Math.max(0, this.unbroken - this.certain - tail);
    this.arrived = [
      ...late.map((entry) => ({ ...entry, late: true })),
      ...this.arrived.slice(this.certain + tail),
    ];
    for (const entry of this.arrived) entry.held = undefined;
    this.unbroken = late.length + gapAt;
    this.missing = ambiguous || broken || isOpenGap;
    this.unsure = this.missing || late.length > 0;
    const newest = records.at(-1)?.id;
    // An answer that is behind the one before moves nothing back.
    if (newest !== undefined && (restored || newest >= (this.id ?? -1n))) {
      this.id = newest;
      this.edge = edgeOf(records, this.edge);
    }
    this.skip = 0;
    this.last = undefined;
    this.heldBack = 0;
    return { due, pair, ambiguous, truncated, restored, lost };
  }
}

const arrival = (key: string, timestamp: number, held: Upload | undefined): Arrived => ({
  ...{ key, timestamp, held, late: false },
});
