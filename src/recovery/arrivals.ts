import type { Upload } from '../types';
import type { HistoryAnswer, HistoryRecord, RecordId } from './answer';
import { Arrival, type Pair } from './arrival';
import type { Comparison } from './compare';
import type { DeviceFacts, DeviceOptions } from './facts';
import { type Position, writePosition } from './position';
import { spoiltBy } from './reports';
import { WRITINGS } from './writing';

/** How many records are emitted at once: the event loop must not be blocked. */
const PART = 2000;
/** For how long an upload may be announced after it was given back, in milliseconds (rule 13). */
const ANNOUNCED_WITHIN = 5000;
/** How many of the newest that were given back are remembered for that. */
const MOST_RECENT = 100;

/** Roughly the bytes of memory that an upload needs in addition to its body. */
const OVERHEAD = 256;
export const weigh = ({ body }: Upload): number => body.length + OVERHEAD;

/**
 * What has arrived after the position (rule 2), what of it is held back (rule 15), and the order in which that and what was
 * missed leave (rules 5 and 13).
 */
export class Arrivals {
  /** Up to this id all has been emitted; undefined before the first reading. */
  id: RecordId | undefined;
  /** The oldest first. */
  all: Arrival[] = [];
  /** How many of them came before the answer was requested. */
  sure = 0;
  /** The next one is after a gap. */
  isAfterGap = true;
  #heldCount = 0;
  #heldBytes = 0;
  #hasDone = false;
  /** The hashes of what was given back of late, and may still be announced. */
  #recent: (readonly number[])[] = [];
  #recentUntil = 0;
  readonly #options: DeviceOptions;
  readonly #device: DeviceFacts;

  constructor(options: DeviceOptions, device: DeviceFacts) {
    this.#options = options;
    this.#device = device;
  }

  /** The place of the first one after the latest gap; Infinity if none has come since. */
  get afterGap(): number {
    const place = this.isAfterGap ? -1 : this.all.findLastIndex(({ isAfterGap }) => isAfterGap);
    return place < 0 ? Infinity : place;
  }

  /** Whether something that is held back may have been announced twice: the history shows it a little later. */
  get isDoubting(): boolean {
    return this.#heldCount > 0 && this.all.some(({ held, isDoubtful }) => held && isDoubtful);
  }

  /** Makes what is saved, later and of now: hashes are needed only where it is. */
  position(): (() => Position) | undefined {
    const { id } = this;
    if (id === undefined) return undefined;
    this.sweep();
    // Unless something is held back, arrivals are only added to this list: the rest makes another one.
    const arrivals = this.#heldCount === 0 ? this.all : this.all.filter(({ held }) => !held);
    const { length } = arrivals;
    const { shown } = this.#device;
    return () => writePosition({ ...shown, id, arrivals: arrivals.slice(0, length) });
  }

  /** Makes the next one, which is added once it is known whether it is held back. */
  next({ body, timestamp }: Upload): Arrival {
    const arrival = Arrival.of(body, timestamp, this.isAfterGap);
    this.isAfterGap = false;
    return arrival;
  }

  /** @returns false if it exceeds a limit */
  hold(arrival: Arrival, upload: Upload): boolean {
    const { limits, budgets } = this.#options;
    const weight = weigh(upload);
    if (this.#heldCount >= limits.held || this.#heldBytes + weight > limits.heldBytes) return false;
    if (!budgets.held.reserve(weight)) return false;
    this.#heldCount++;
    this.#heldBytes += weight;
    arrival.held = upload;
    return true;
  }

  #take(arrival: Arrival): void {
    if (!arrival.held) return;
    const weight = weigh(arrival.held);
    arrival.held = undefined;
    this.#heldCount--;
    this.#heldBytes -= weight;
    this.#options.budgets.held.release(weight);
  }

  /** What is still held is dropped; it is removed by {@link sweep}. */
  #forget(arrival: Arrival): void {
    this.#take(arrival);
    arrival.isDone = true;
    this.#hasDone = true;
  }

  /** Removes what is forgotten. */
  sweep(): void {
    if (!this.#hasDone) return;
    this.#hasDone = false;
    const isLeft = ({ isDone }: Arrival): boolean => !isDone;
    this.sure = this.all.slice(0, this.sure).filter(isLeft).length;
    this.all = this.all.filter(isLeft);
  }

  /** Forgets the first ones, or all. What is held of them is dropped. */
  removeFirst(count = this.all.length): void {
    for (const arrival of this.all.slice(0, count)) this.#take(arrival);
    this.all = this.all.slice(count);
    this.sure = 0;
  }

  /** Of all it is open whether they lie before the position. */
  loosen(): void {
    for (const arrival of this.all) arrival.isLoose = true;
  }

  /** What has been missed is known: nothing is between the position and what arrived after it. */
  closeGap(): void {
    this.isAfterGap = false;
    for (const arrival of this.all) arrival.isAfterGap = false;
  }

  /** All that is held back is dropped: the next answer has it (rule 15). */
  drop(): void {
    for (const arrival of this.all) if (arrival.held) this.#forget(arrival);
    this.sweep();
  }

  /** Emits all that is held back. @returns whether there was something */
  release(): boolean {
    if (this.#heldCount === 0) return false;
    for (const arrival of this.all)
      if (!arrival.isDoubtful) this.#emitHeld(arrival);
      // If it was no second announcement, the history gives it back.
      else if (arrival.held) this.#forget(arrival);
    this.sweep();
    return true;
  }

  /** It will never be in the history, or it is open whether it is: it goes, and is looked for no more. */
  leave(arrival: Arrival): void {
    this.#emitHeld(arrival);
    this.#forget(arrival);
  }

  /** @param isFound whether the history has it: what is in doubt and is not there was announced twice */
  #emitHeld(arrival: Arrival, isFound = false): void {
    if (arrival.isDoubtful && !isFound) return;
    // A position that is made meanwhile is the one before it.
    if (arrival.held) this.#options.emit(arrival.held);
    this.#take(arrival);
  }

  /** Emits records and what is held back, in order: rule 5. */
  *emit(
    records: readonly HistoryRecord[],
    arrivals: readonly Arrival[],
    { pairs, found, passed, gone, spoilt }: Comparison,
    answer: HistoryAnswer,
  ): Generator<void> {
    // Before anything is given back, so that it is restored by all that is known.
    this.#device.learn(records, arrivals, pairs);
    if (spoilt.size > 0 || passed.some((place) => arrivals[place]?.mayBeSpoilt))
      this.#device.facts.isSpoiling = true;
    const restored = this.#device.restorer(answer);
    const newest = records.length - MOST_RECENT;
    let next = 0;
    const emitBefore = (end: number): void => {
      for (; next < end; next++) this.#emitHeld(arrivals[next] as Arrival);
    };
    const last = records.findLast(
      (record) => record.body !== undefined && !pairs.has(record) && !spoilt.has(record),
    );
    const doubtful: number[] = [];
    for (let place = 0; place < arrivals.length; place++) {
      const { held, isDoubtful } = arrivals[place] as Arrival;
      if (held && isDoubtful && !found.has(place)) doubtful.push(place);
    }
    emitBefore(gone);
    for (const arrival of arrivals.slice(0, gone)) this.#forget(arrival);
    for (let at = 0; at < records.length; at++) {
      const record = records[at] as HistoryRecord;
      const pair = pairs.get(record);
      const missing = spoilt.get(record);
      if (pair) {
        emitBefore(pair.place);
        const arrival = oldestOf(arrivals, pair, doubtful);
        this.#emitHeld(arrival, true);
        this.#forget(arrival);
      } else if (missing !== undefined) {
        emitBefore(missing);
        const arrival = arrivals[missing] as Arrival;
        this.leave(arrival);
        this.#options.log(...spoiltBy(arrival, record));
      } else if (record.body !== undefined) {
        if (at >= newest) this.#remember(record);
        this.#options.emit(restored(record, record.body), record === last);
      }
      this.id = record.id;
      if (at % PART === PART - 1) {
        this.sweep();
        yield;
      }
    }
  }

  /** For rule 13. */
  #remember({ everyHash }: HistoryRecord): void {
    const now = this.#options.now();
    if (now >= this.#recentUntil) this.#recent = [];
    this.#recentUntil = now + ANNOUNCED_WITHIN;
    this.#recent.push(everyHash);
    if (this.#recent.length > MOST_RECENT) this.#recent.shift();
  }

  /** Whether it equals what was given back of late; each counts once. */
  wasGivenBack(arrival: Arrival): boolean {
    if (this.#recent.length === 0) return false;
    if (this.#options.now() >= this.#recentUntil) this.#recent = [];
    const at = this.#recent.findIndex((hashes) =>
      WRITINGS.some((writing) => hashes.includes(arrival.hashes[writing])),
    );
    if (at >= 0) this.#recent.splice(at, 1);
    return at >= 0;
  }
}

/**
 * Of equal arrivals, the older goes first, although it is in doubt: which of them was announced twice cannot be told, so
 * that the newer one is in doubt from now on.
 */
function oldestOf(
  arrivals: readonly Arrival[],
  { place, writing }: Pair,
  doubtful: number[],
): Arrival {
  const arrival = arrivals[place] as Arrival;
  const hash = arrival.hashes[writing];
  const at = doubtful.findIndex((each) => arrivals[each]?.hashes[writing] === hash);
  const older = doubtful[at] ?? Infinity;
  if (older > place || !arrival.held) return arrival;
  arrival.isDoubtful = true;
  doubtful[at] = place;
  doubtful.sort((a, b) => a - b);
  return arrivals[older] as Arrival;
}
