import type { Upload } from '../../types';
import { Arrivals, type Arrived, type HasRecord } from './arrivals';
import { edgeOf, type Edge } from '../position/edge';
import type { Encoding } from '../records/facts';
import { splitKeys, type LiveKeys } from '../records/keys';
import { lostBefore } from '../position/lost';
import { endsWith, orderedWithin, overlap } from './overlap';
import type { Position } from '../position/position';
import type { Reconciled } from './counted';
import { reconcile } from './reconcile';
import type { Recorded } from '../records/recorded';
import { NOTHING, type Settlement } from './settlement';
import { recordsSince, type Since } from '../position/since';

/**
 * The ledger of one device: what arrived live after the position, the newest history id known to be emitted.
 * Unlike records of the history, live events have no id, so the two are matched by their bytes, and counted: two equal
 * uploads remain two. An upload is in the history no later than on the channel.
 */
export class Ledger {
  private id: bigint | undefined;
  private edge: Edge | undefined;
  /** How many records after the position an earlier run has emitted. */
  private skip: number;
  /** Key of the last one of those. */
  private last: string | undefined;
  private readonly arrivals: Arrivals;
  /** Something may have been missed before an arrival, so a number alone would not show which have been emitted. */
  private unsure: boolean;
  /** Something may have been missed since the position. */
  private missing = true;
  /** The newest id when it was last reported that ids do not continue. */
  private oddAt: bigint | undefined;

  /** @param encoding how the history writes bodies, as far as that is known */
  constructor(start?: Position, encoding: Encoding = 'text') {
    this.id = start && BigInt(start.id);
    this.edge = start?.edge;
    this.skip = start?.live ?? 0;
    this.last = start?.last;
    this.arrivals = new Arrivals(encoding, start?.keys);
    this.unsure = this.arrivals.size > 0;
  }

  /** How many arrivals are remembered. */
  get size(): number {
    return this.arrivals.size;
  }

  get hasPosition(): boolean {
    return this.id !== undefined;
  }

  /** Whether, as far as is known, no upload so far can turn out to have been missed. */
  get isComplete(): boolean {
    return this.hasPosition && !this.missing;
  }

  /** There may be a gap before whatever arrives from now on. */
  gap(): void {
    this.arrivals.gap();
    this.unsure = true;
    this.missing = true;
  }

  /** Adds an arrival: see {@link Arrivals.add}. */
  add(key: string, timestamp: number, held?: Upload, bytes = key): void {
    this.arrivals.add(key, timestamp, held, bytes);
  }

  /** The history is being requested. */
  mark(): void {
    this.arrivals.mark();
  }

  /** How the history writes bodies: see {@link Arrivals.setEncoding}. */
  setEncoding(encoding: Encoding, isBase64?: HasRecord): void {
    this.arrivals.setEncoding(encoding, isBase64);
  }

  /** Forgets what is held back, since the history contains it. */
  drop(): void {
    if (this.arrivals.drop()) this.missing = true;
  }

  /** Returns what is held back, to be emitted after all. */
  release(): Upload[] {
    return this.arrivals.release();
  }

  /** The records after the position; before the first reading, all records. */
  since<T extends Recorded>(records: readonly T[]): Since<T> {
    return this.id === undefined
      ? { fresh: [...records], truncated: false, restored: false }
      : recordsSince(records, this.id, this.edge);
  }

  /** Keys of what arrived, as texts and as bytes. */
  arrivedKeys(): LiveKeys[] {
    const keys = this.arrivals.keys();
    return this.last === undefined ? keys : [splitKeys(this.last), ...keys];
  }

  /** The key of the oldest arrival, if that is text. */
  get oldestText(): string | undefined {
    return this.arrivals.oldestText;
  }

  /** The uploads that settling would find to be missed, as a text: two ways of reading the records are compared by it. */
  preview(since: Since): string {
    if (this.id === undefined) return String(this.firstTail(since.fresh));
    const { tail, missed } = this.reconcile(since);
    return `${tail}:${missed.join()}`;
  }

  /**
   * Whether settling would find an upload to be missed that equals one that arrived after the history was requested.
   * If some records cannot be read, the two may be the same upload.
   */
  isRisky(since: Since): boolean {
    if (this.id === undefined) return false;
    const { tail, missed } = this.reconcile(since);
    const open = new Set(this.arrivals.open.slice(tail).map(({ key }) => key));
    const ids = new Set(missed);
    return since.fresh.some(({ id, key = '' }) => ids.has(id) && open.has(key));
  }

  /**
   * Matches the history with the arrivals.
   * @param records all of the answer, by id, oldest first
   * @param insist accept a first reading even if it is ambiguous
   */
  settle(
    records: readonly Recorded[],
    insist = false,
    since: Since = this.since(records),
  ): Settlement {
    return this.id === undefined
      ? this.settleFirst(records, insist)
      : this.settleNew(this.id, records, since);
  }

  /** How far the uploads have been emitted; undefined before the history was read for the first time. */
  position(): Position | undefined {
    if (this.id === undefined) return undefined;
    const { skip, last, edge, arrivals } = this;
    const position: Position = { id: String(this.id), live: skip };
    if (edge) position.edge = edge;
    if (this.unsure) {
      if (last !== undefined) position.last = last;
      position.keys = arrivals.savedKeys();
      return position;
    }
    // This runs with every upload: the arrivals are counted already, and the newest is the last.
    position.live += arrivals.emitted;
    const newest = arrivals.savedNewest() ?? last;
    if (newest !== undefined) position.last = newest;
    return position;
  }

  /** Whether the history could also end with another number of `open`: see {@link endsWith}. */
  private isAmbiguous(records: readonly Recorded[], tail: number): boolean {
    const { sureUnbroken, open } = this.arrivals;
    for (let other = 0; other <= open.length; other++) {
      if (other !== tail && endsWith(records, sureUnbroken, open, other)) return true;
    }
    return false;
  }

  private firstTail(records: readonly Recorded[]): number {
    const { open, broken } = this.arrivals;
    if (records.length === 0) return 0;
    if (!broken) return overlap(records, open);
    // Not among all records: old ones may equal an arrival.
    return orderedWithin(records.slice(-2 * open.length), open);
  }

  /** The first reading only sets the position: nothing before it is recovered. */
  private settleFirst(records: readonly Recorded[], insist: boolean): Settlement {
    const { arrivals } = this;
    const tail = this.firstTail(records);
    const ambiguous = arrivals.broken || this.isAmbiguous(records, tail);
    if (ambiguous && !insist) {
      arrivals.reopen();
      return { ...NOTHING, ambiguous };
    }
    this.id = records.at(-1)?.id ?? -1n;
    this.edge = edgeOf(records, undefined);
    this.unsure = ambiguous || arrivals.isOpenGap(tail);
    this.missing = this.unsure;
    arrivals.settle([], tail);
    return NOTHING;
  }

  /**
   * Sets the first position before what is held back, as far as the first answer contains that. It then comes after
   * the position, like whatever is missed later.
   * @param records all of the answer, by id, oldest first
   * @returns false if something has been emitted already: then the answer is settled like any first one
   */
  begin(records: readonly Recorded[]): boolean {
    const { arrivals } = this;
    if (arrivals.emitted > 0 || arrivals.broken) return false;
    const before = records.length - overlap(records, [...arrivals.sure, ...arrivals.open]);
    this.id = records[before - 1]?.id ?? -1n;
    this.edge = edgeOf(records.slice(0, before), undefined);
    return true;
  }

  private reconcile({ fresh, truncated }: Since): Reconciled {
    const { skip, arrivals } = this;
    const { sure, open, broken } = arrivals;
    const last = this.last === undefined ? undefined : arrivals.keyIn(splitKeys(this.last));
    return reconcile(fresh, { skip, last, sure, open, truncated, broken });
  }

  private settleNew(position: bigint, records: readonly Recorded[], since: Since): Settlement {
    const { arrivals } = this;
    const { fresh, truncated, restored } = since;
    const { due, pair, tail, unfound } = this.reconcile(since);
    const { broken } = arrivals;
    const ambiguous = !broken && this.isAmbiguous(fresh, tail);
    const lost = this.missing ? lostBefore(since, position, unfound.length + this.skip) : undefined;
    const late: Arrived[] = truncated ? [] : unfound.filter((entry) => !entry.late);
    this.missing = ambiguous || broken || arrivals.isOpenGap(tail);
    this.unsure = this.missing || late.length > 0;
    arrivals.settle(late, tail);
    const news = this.moveOn(position, records, since);
    this.skip = 0;
    this.last = undefined;
    return { due, pair, ambiguous, truncated, lost, ...news, restored: restored && news.restored };
  }

  /** Moves the position to the newest record. @returns what is odd about the ids, if that is not reported yet */
  private moveOn(
    position: bigint,
    records: readonly Recorded[],
    { restored, behind }: Since,
  ): Pick<Settlement, 'restored' | 'behind'> {
    const newest = records.at(-1)?.id ?? position;
    const isNews = behind ? this.oddAt === undefined : this.oddAt !== newest;
    if ((restored || behind) && isNews) this.oddAt = newest;
    // After a record with an id far too high, all ids are odd.
    else if (!restored && !behind && newest !== this.oddAt) this.oddAt = undefined;
    // An answer that is older than the one before does not move the position back.
    if (!behind) {
      this.id = newest;
      this.edge = edgeOf(records, this.edge);
    }
    return {
      restored: restored && isNews,
      behind: behind && isNews ? { newest, position, unknown: behind.unknown } : undefined,
    };
  }
}
