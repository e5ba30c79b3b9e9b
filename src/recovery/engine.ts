import type { Upload } from '../types';
import type { HistoryFacts } from './facts';
import type { Budgets, LIMITS } from './options';
import { type Position, readPosition, type Shown, writePosition } from './position';
import { Reports } from './reports';
import { fromUnix, toUnix } from './zone';
import { compare, type Compared, type Comparison, type Pair, UNPROVEN } from './compare';
import { BEFORE_ALL, HistoryAnswer, type HistoryRecord, type RecordId } from './answer';
import { Arrival, Keys, restore, SAMPLE, seemsBase64, shownBy, WRITINGS } from './writing';

/*
 * What is held back, emitted and remembered of one device, for one listener, without input or output. The numbers are those
 * of the rules in docs/inside/recovery.md.
 *
 *              first answer (1)               connected (3), doubt (13)
 *   no position ───────────────► live uploads ─────────────────────────► held back
 *        ▲                        go on (2)    ◄─────────────────────────  │  ▲
 *        │ 10,000 arrivals          │             all is there (5), or     │  │ too many (15): dropped,
 *        │ without an               │             no longer waits (6, 16)  │  │ the answer is read again
 *        └ answer (16) ─────────────┘                                      └──┘
 *
 * An answer, in `answer()`: `#begin` (1), `#startOver` (20), or `#settle`: `compare` (4, 7, 8, 9, 10) pairs arrivals and
 * records; what is missing has the history read again (6, 8); `#emit` (5) gives back and emits in order; `#finish` forgets
 * what has not come (7, 9), moves the position, and says when to read next (11, 12, 13, 14, 21).
 */

/** How many records are emitted at once: the event loop must not be blocked. */
const PART = 2000;
/** At this unclear answer in a row live uploads go on, and at this one it is used (rule 6). */
const LIVE_TRIES = 3;
const USED_TRIES = 5;
/** After this many failed readings in a row, live uploads go on (rule 16). */
const FAILED_TRIES = 5;
/** For how long an upload may be announced after it was given back, in milliseconds (rule 13). */
const ANNOUNCED_WITHIN = 5000;
/** How many of the newest that were given back are remembered for that. */
const MOST_RECENT = 100;
/** By how much times of an arrival and its record may differ from those of others of the device, in ms (rule 7). */
const SAME_TIME = 5000;

export interface EngineOptions {
  readonly appid: string;
  readonly chipid: string;
  /** Where an earlier run left off. */
  readonly start: Position | undefined;
  /** Milliseconds that the history's times are ahead of UTC; undefined if that is learned. */
  readonly zone: number | undefined;
  readonly facts: HistoryFacts;
  readonly budgets: Budgets;
  readonly limits: typeof LIMITS;
  /** How many devices have a recovery. */
  devices(): number;
  /** Milliseconds since 1970. */
  now(): number;
  /** @param isLast of those that an answer gives back */
  emit(upload: Upload, isLast?: boolean): void;
  /** @param kind the same for all texts of a kind */
  log(text: string, kind: string): void;
}

/** More than zones and clocks differ by, in milliseconds. */
const DAY = 24 * 60 * 60 * 1000;
/** Roughly the bytes of memory that an upload needs in addition to its body. */
const OVERHEAD = 256;
export const weigh = ({ body }: Upload): number => body.length + OVERHEAD;

type Known = Parameters<typeof restore>[1] & { zone: number };

/**
 * Recovers what the channel of one device missed, for one listener: what is emitted, held back and remembered. Whoever
 * drives it reads histories when `again` says so, and passes on what comes.
 */
export class Engine {
  /** Whether live uploads are held back. */
  isHolding = false;
  /** The history is to be read: at once if 0, otherwise with a pause that grows with it. */
  again: number | undefined;
  /** Failed readings in a row. */
  failures = 0;
  #id: RecordId | undefined;
  /** Never changed in place: with each upload there is another position that has it. */
  #shown: Readonly<Shown> = {
    seen: [],
    measure: undefined,
    afterTime: undefined,
    isPlain: false,
    isMixed: false,
    isUnordered: false,
    isLagging: false,
  };
  #arrivals: Arrival[] = [];
  /** How many of them came before the answer was requested. */
  #sure = 0;
  #heldCount = 0;
  #heldBytes = 0;
  /** The next arrival is after a gap. */
  #isAfterGap = true;
  /** The history lags, and may not have shown yet all that was missed. */
  #mayLack = false;
  /** There was a gap since the last answer that was used. */
  #isGapped = true;
  /** Since the request: something unreadable came, or uploads were dropped. */
  #isDisturbed = false;
  #isOverflown = false;
  /** Unclear answers in a row. */
  #unclear = 0;
  #unreadable = 0;
  /** Answers in a row that may owe the record of an arrival (rule 12). */
  #owed = 0;
  /** The number of arrivals after which the history is read. */
  #due = 1;
  #recent = new Map<number, number>();
  #recentUntil = 0;
  /** The difference between the times of a record and its arrival, of the latest pair. */
  #skew: number | undefined;
  /** The answer that is being read or looked at. */
  #answer: HistoryAnswer | undefined;
  readonly #reports: Reports;
  readonly #options: EngineOptions;
  readonly #facts: HistoryFacts;
  #hasDone = false;

  constructor(options: EngineOptions) {
    const { start, facts } = options;
    this.#options = options;
    this.#facts = facts;
    this.#reports = new Reports((text, kind) => options.log(text, kind));
    if (start) {
      const { id, arrivals, ...shown } = readPosition(start);
      this.#id = id;
      this.#arrivals = [...arrivals];
      this.#shown = shown;
    }
  }

  get hasPosition(): boolean {
    return this.#id !== undefined;
  }

  /** Whether, as far as is known, no upload so far can turn out to have been missed. */
  get isComplete(): boolean {
    return this.hasPosition && !this.#isGapped;
  }

  /**
   * Returns what makes the position up to which uploads have been emitted by now; undefined before the first reading. This
   * runs with every upload, while hashes are needed only where it is saved.
   */
  position(): (() => Position) | undefined {
    const id = this.#id;
    if (id === undefined) return undefined;
    this.#forgetDone();
    // Unless something is held back, arrivals are only added to this list: the rest makes another one.
    const arrivals =
      this.#heldCount === 0 ? this.#arrivals : this.#arrivals.filter(({ held }) => !held);
    const { length } = arrivals;
    const shown = this.#shown;
    return () => writePosition({ ...shown, id, arrivals: arrivals.slice(0, length) });
  }

  /** Whether something that is held back may have been announced twice: the history shows it a little later. */
  get isDoubting(): boolean {
    return this.#heldCount > 0 && this.#arrivals.some(({ held, isDoubtful }) => held && isDoubtful);
  }

  /** The last answers had none of the arrivals that must be in them (rule 8). */
  get isUnproven(): boolean {
    return this.#reports.isUnproven;
  }

  /** Rules 2 and 15: it goes on, or waits for the history. */
  upload(upload: Upload): void {
    // No history keeps what comes in the transparent serial mode (rule 23).
    if (upload.type !== undefined) {
      this.#options.emit(upload);
      return;
    }
    this.#unreadable = 0;
    const arrival = new Arrival(Keys.of(upload.body), upload.timestamp, this.#isAfterGap);
    this.#isAfterGap = false;
    if (this.#wasGivenBack(arrival)) this.#doubt(arrival);
    if (this.#mayLack && !this.#isHopeless) {
      this.isHolding = true;
      this.again ??= 0;
    }
    if (this.isHolding && !this.#hold(arrival, upload)) {
      if (!this.#mayDrop) this.#goLive();
      else {
        this.#drop();
        arrival.isAfterGap = true;
        this.#isAfterGap = false;
        this.#hold(arrival, upload);
      }
    }
    const isLive = !arrival.held;
    // A position that is made meanwhile is the one before it.
    if (isLive) this.#options.emit(upload);
    this.#arrivals.push(arrival);
    if (isLive) this.#checkArrivals();
  }

  /** Something arrived that could not be read, perhaps an upload: rule 14. */
  gap(): void {
    this.#isAfterGap = true;
    this.#isGapped = true;
    this.#isDisturbed = true;
    this.again ??= ++this.#unreadable + 1;
  }

  connected(): void {
    this.#isAfterGap = true;
    this.#isGapped = true;
    this.#unreadable = 0;
    if (this.hasPosition && !this.#isHopeless) this.isHolding = true;
    else this.#release();
    this.again = this.failures;
  }

  /** What is held stays held: the next answer has its place, or no longer has it (rule 15). */
  disconnected(): void {
    this.again = undefined;
    this.#answer?.release();
    if (this.hasPosition) return;
    // It begins with a first reading, even if the channel is not open yet.
    this.#release();
    this.#arrivals = [];
    this.again = this.failures;
  }

  /** The history is being requested. */
  request(): HistoryAnswer {
    this.again = undefined;
    this.#sure = this.#arrivals.length;
    this.#isDisturbed = false;
    this.#isOverflown = false;
    this.#answer?.release();
    const { writing } = this.#facts;
    return (this.#answer = new HistoryAnswer({
      chipid: this.#options.chipid,
      after: this.#id,
      ...this.#shown,
      expected: this.#arrivals.filter((arrival) => arrival.mustBeThere(writing)).length,
      mayEnd: this.#unclear === 0 && !this.#shown.isUnordered,
      margin: this.#options.limits.margin,
      budget: this.#options.budgets.answers,
    }));
  }

  /** A reading has failed: rule 16. */
  failed(): void {
    this.failures++;
    this.again = this.failures;
    if (this.failures >= FAILED_TRIES) this.#goLive();
  }

  /** Live uploads have waited for 60 seconds: rule 16. */
  expired(): void {
    this.failures = Math.max(this.failures, FAILED_TRIES);
    this.again ??= this.failures;
    this.#goLive();
  }

  /** What is held back is dropped. */
  close(): void {
    this.#answer?.release();
    for (const arrival of this.#arrivals) this.#take(arrival);
    this.#arrivals = [];
  }

  /** Emits what an answer shows. All that was announced before it has arrived. Step by step, for the event loop. */
  *answer(answer: HistoryAnswer): Generator<void> {
    this.failures = 0;
    answer.end();
    for (const fault of answer.faults) this.#reports.unusable(fault);
    answer.faults.clear();
    if (answer.sought.after === undefined) this.#begin(answer);
    else if (this.#isOverflown) this.again = 0;
    else if (answer.isRestarted) this.#startOver();
    else yield* this.#settle(answer);
    answer.release();
  }

  /**
   * Rule 1. What has come since the request may be in the answer: the next one shows it. It is called when the answer has
   * been read, so that what a cut misses from then on comes back, and once more when nothing announced earlier is under way.
   */
  #begin(answer: HistoryAnswer): void {
    const isQuiet = this.#arrivals.length === this.#sure && !this.#isDisturbed;
    if (!isQuiet) this.again ??= 1;
    this.#arrivals = this.#arrivals.slice(this.#sure);
    this.#sure = 0;
    for (const arrival of this.#arrivals) arrival.isLoose = true;
    this.#moveTo(answer.newest, answer);
    this.#isGapped = !isQuiet;
    if (isQuiet) this.#closeGap();
    this.#due = 1;
  }

  /** Rule 20. */
  #startOver(): void {
    this.#reports.startedOver();
    for (const arrival of this.#arrivals) arrival.isLoose = true;
    this.#show({ afterTime: this.#latestTime(), measure: undefined });
    this.#id = BEFORE_ALL;
    this.again = 0;
  }

  *#settle(answer: HistoryAnswer): Generator<void> {
    const { records } = answer;
    const isCut = answer.cutAt !== undefined;
    if (answer.isMixed) this.#show({ isUnordered: true });
    const position = this.#id ?? BEFORE_ALL;
    this.#reports.behind(answer.newest, position, answer.length === 0);
    const arrivals = [...this.#arrivals];
    const afterGap = this.#afterGap(arrivals);
    // Of a history that lags, what was missed is there once what came after it is (rule 6).
    const isAwaited = this.#shown.isLagging && afterGap < arrivals.length;
    const requested = this.#sure;
    const sure = isAwaited ? Math.max(requested, afterGap + 1) : requested;
    const isShort = !answer.hasOld && !answer.isEnded && this.#id !== undefined && this.#id >= 0;
    this.#reportLost(answer, isShort);
    const compared: Compared = {
      records,
      arrivals,
      sure,
      requested,
      known: this.#facts.writing,
      isUnderstood: this.#facts.isUnderstood || this.#shown.isPlain,
      keepsCommas: this.#facts.keepsCommas,
      afterGap,
      isCut,
      shortAfter: isShort && records.length > 0 ? this.#id : undefined,
      isAtTime: (record, arrival) => this.#isAtTime(record, arrival),
    };
    const found = compare(compared);
    yield;
    let use = records.length;
    if (found.awaited.length > 0) {
      const isUnproven = found.pairs.size === 0 && found.awaited.length >= UNPROVEN;
      this.#unclear++;
      if (this.#unclear >= LIVE_TRIES) this.#release();
      if (isUnproven || this.#unclear < USED_TRIES) this.again = this.#unclear;
      if (isUnproven) {
        if (this.#unclear >= LIVE_TRIES) this.#reports.unproven(arrivals[sure - 1], records.at(-1));
        return;
      }
      // What follows the last arrival that is there waits for the next answer.
      const isEarly = (found.awaited[0] as number) >= requested;
      if (this.#unclear < USED_TRIES && !isEarly) use = lastSure(records, found, sure) + 1;
    } else {
      this.#unclear = 0;
      this.#reports.proven();
    }
    yield* this.#emit(records.slice(0, use), arrivals, found, answer);
    if (use < records.length) {
      this.#forgetDone();
      return;
    }
    this.#finish(answer, compared, found);
  }

  /** The place from which on they arrived after the gap that the next answer closes; Infinity if none did. */
  #afterGap(arrivals: readonly Arrival[]): number {
    if (!(this.#isGapped || this.#mayLack) || this.#isAfterGap) return Infinity;
    const place = arrivals.findLastIndex(({ isAfterGap }) => isAfterGap);
    return place < 0 ? Infinity : place;
  }

  /** Emits records and what is held back, in order: rule 5. */
  *#emit(
    records: readonly HistoryRecord[],
    arrivals: readonly Arrival[],
    found: Comparison,
    answer: HistoryAnswer,
  ): Generator<void> {
    const { pairs, gone, spoilt } = found;
    // Before anything is given back, so that it is restored by all that is known.
    for (const record of records) {
      const pair = pairs.get(record);
      if (pair) this.#learn(arrivals[pair.place] as Arrival, record, pair);
      if (pair && arrivals[pair.place]?.isLate && !this.#shown.isLagging)
        this.#show({ isLagging: true });
    }
    const isSpoilt = (place: number): boolean => arrivals[place]?.keys.mayBeSpoilt === true;
    if (spoilt.size > 0 || found.passed.some(isSpoilt)) this.#facts.isSpoiling = true;
    const known = this.#knownOf(answer);
    let next = 0;
    const emitBefore = (end: number): void => {
      for (; next < end; next++) this.#emitHeld(arrivals[next] as Arrival);
    };
    const last = records.findLast(
      (record) => record.body !== undefined && !pairs.has(record) && !spoilt.has(record),
    );
    const places = new Set(Array.from(pairs.values(), ({ place }) => place));
    const doubtful = arrivals.flatMap(({ held, isDoubtful }, place) =>
      held && isDoubtful && !places.has(place) ? [place] : [],
    );
    emitBefore(gone);
    for (let place = 0; place < gone; place++) this.#forget(arrivals[place] as Arrival);
    for (const [at, record] of records.entries()) {
      const pair = pairs.get(record);
      if (pair) {
        emitBefore(pair.place);
        const arrival = oldestOf(arrivals, pair, doubtful);
        this.#emitHeld(arrival, true);
        this.#forget(arrival);
      } else if (spoilt.has(record)) {
        const missing = arrivals[spoilt.get(record) as number] as Arrival;
        emitBefore(spoilt.get(record) as number);
        this.#emitHeld(missing);
        this.#forget(missing);
        this.#reports.spoilt(missing, record);
      } else if (record.body !== undefined) {
        if (records.length - at <= MOST_RECENT) this.#remember(record);
        this.#options.emit(this.#restored(record, record.body, known), record === last);
      }
      this.#id = record.id;
      if (at % PART === PART - 1) {
        this.#forgetDone();
        yield;
      }
    }
  }

  /** All of an answer has been emitted. */
  #finish(answer: HistoryAnswer, compared: Compared, found: Comparison): void {
    const { arrivals, requested, afterGap, isCut } = compared;
    // A record that was taken for an arrival after the request may be an earlier, equal one instead.
    const isOpen = Array.from(found.pairs.values()).some(({ place }) => place >= requested);
    const wasGapped = this.#isGapped;
    const known = this.#facts.writing;
    if (!isCut) {
      for (const place of found.passed) this.#forgetMissing(arrivals[place] as Arrival);
      for (const place of found.awaited)
        if (place < requested) (arrivals[place] as Arrival).isLate = true;
      for (let place = 0; place < requested; place++) {
        const arrival = arrivals[place] as Arrival;
        if (arrival.isDone || arrival.mustBeThere(known)) continue;
        // What is late, or may be left out, is looked for until a later one is there; the others should have been there by now.
        const isLookedFor = arrival.isLate || arrival.keys.mayBeEmpty(known);
        if (isLookedFor && place >= found.end) continue;
        this.#emitHeld(arrival);
        this.#forget(arrival);
      }
    }
    this.#forgetDone();
    if (answer.records.length > 0) this.#show({ afterTime: undefined });
    if (answer.newest > (this.#id ?? BEFORE_ALL) && !isCut) this.#id = answer.newest;
    this.#moveTo(this.#id ?? BEFORE_ALL, answer);
    if (isCut) {
      this.again = 0;
      return;
    }
    this.#isGapped = this.#isDisturbed;
    this.#mayLack =
      this.#shown.isLagging &&
      (wasGapped || this.#mayLack) &&
      !Array.from(found.pairs.values()).some(({ place }) => place >= afterGap);
    if (!this.#isDisturbed && found.awaited.length === 0 && !this.#mayLack) this.#closeGap();
    if (this.isDoubting) this.again = 0;
    else if (found.awaited.length === 0 || this.#unclear >= LIVE_TRIES) this.#release();
    // Of two equal uploads, one may have been missed, and the other be announced after the answer was made (rule 12).
    if (isOpen && (wasGapped || this.#owed > 0)) this.again ??= this.#owed++;
    else this.#owed = 0;
    const isWhole = !answer.isEnded && answer.bytes <= this.#options.limits.small;
    const half = Math.max(this.#options.limits.least, Math.ceil(answer.length / 2));
    this.#due = isWhole ? Math.min(half, this.#options.limits.short) : this.#options.limits.long;
  }

  #moveTo(id: RecordId, answer: HistoryAnswer): void {
    this.#id = id;
    const seen = answer.seenUpTo(id);
    this.#show({ ...(seen.length > 0 && { seen }), measure: answer.measure });
  }

  /** What has been missed is known: nothing is between the position and what arrived after it. */
  #closeGap(): void {
    this.#isAfterGap = false;
    for (const arrival of this.#arrivals) arrival.isAfterGap = false;
  }

  #show(change: Partial<Shown>): void {
    this.#shown = { ...this.#shown, ...change };
  }

  get #isHopeless(): boolean {
    return this.failures >= FAILED_TRIES || this.#unclear >= LIVE_TRIES;
  }

  /** Whether what is held back may be left to the history: rule 15. */
  get #mayDrop(): boolean {
    return !this.#isHopeless && this.#unclear === 0;
  }

  /** After how many arrivals the history is read, so that all devices together do not remember too many. */
  get #dueNow(): number {
    const { least, arrivals } = this.#options.limits;
    return Math.min(this.#due, Math.max(least, arrivals / this.#options.devices()));
  }

  /** The latest time that is remembered, but for that of a wrong clock; empty without one. */
  #latestTime(): string {
    const until = this.#options.now() + DAY + this.#zone;
    const latest = Math.max(
      ...this.#shown.seen.map(([, time]) => time).filter((time) => time <= until),
    );
    return latest > -Infinity ? fromUnix(latest, 0) : '';
  }

  /** @returns false if it exceeds a limit */
  #hold(arrival: Arrival, upload: Upload): boolean {
    const weight = weigh(upload);
    const { held, heldBytes } = this.#options.limits;
    if (this.#heldCount >= held || this.#heldBytes + weight > heldBytes) return false;
    if (!this.#options.budgets.held.reserve(weight)) return false;
    this.#heldCount++;
    this.#heldBytes += weight;
    arrival.held = upload;
    return true;
  }

  #take(arrival: Arrival): Upload | undefined {
    const { held } = arrival;
    if (!held) return undefined;
    arrival.held = undefined;
    const weight = weigh(held);
    this.#heldCount--;
    this.#heldBytes -= weight;
    this.#options.budgets.held.release(weight);
    return held;
  }

  /** @param isFound whether the history has it: what is in doubt and is not there was announced twice */
  #emitHeld(arrival: Arrival, isFound = false): void {
    if (arrival.isDoubtful && !isFound) return;
    // A position that is made meanwhile is the one before it.
    if (arrival.held) this.#options.emit(arrival.held);
    this.#take(arrival);
  }

  /** All that is held back is dropped: the next answer has it (rule 15). */
  #drop(): void {
    for (const arrival of this.#arrivals) if (arrival.held) this.#forget(arrival);
    this.#forgetDone();
    this.#isOverflown = true;
    this.#isGapped = true;
    this.#isAfterGap = true;
    this.again ??= 0;
  }

  /** Emits all that is held back, and holds back nothing. */
  #release(): void {
    this.isHolding = false;
    if (this.#heldCount === 0) return;
    for (const arrival of this.#arrivals)
      if (!arrival.isDoubtful) this.#emitHeld(arrival);
      // If it was no second announcement, the history gives it back.
      else if (arrival.held) this.#forget(arrival);
    this.#forgetDone();
    this.#checkArrivals();
  }

  #goLive(): void {
    if (!this.isHolding) return;
    this.#reports.late();
    this.#release();
  }

  /** Rules 11 and 16. */
  #checkArrivals(): void {
    const { length } = this.#arrivals;
    if (length >= this.#options.limits.forgotten) {
      this.#reports.givenUp();
      this.#id = undefined;
      this.#arrivals = [];
      this.#sure = 0;
      this.again ??= this.failures;
    } else if (this.hasPosition && this.#unclear === 0 && length >= this.#dueNow)
      this.again ??= this.failures;
  }

  /** What is still held is dropped. */
  #forget(arrival: Arrival): void {
    this.#take(arrival);
    arrival.isDone = true;
    this.#hasDone = true;
  }

  #forgetDone(): void {
    if (!this.#hasDone) return;
    this.#hasDone = false;
    let sure = 0;
    for (let place = 0; place < this.#sure; place++)
      if (this.#arrivals[place]?.isDone === false) sure++;
    this.#sure = sure;
    this.#arrivals = this.#arrivals.filter(({ isDone }) => !isDone);
  }

  /** Milliseconds that the history's times are ahead of UTC, as far as that is known. */
  get #zone(): number {
    return this.#options.zone ?? this.#facts.likelyZone;
  }

  /** A later one is there: it will never be. */
  #forgetMissing(arrival: Arrival): void {
    if (arrival.isDone) return;
    this.#emitHeld(arrival);
    this.#forget(arrival);
    this.#reports.missing(arrival);
  }

  /** What is known of the writing, and the zone: the same for all that an answer gives back. */
  #knownOf({ sample, records }: HistoryAnswer): Known {
    const { writing, isSpoiling } = this.#facts;
    const isOpen = writing === undefined && !this.#shown.isPlain;
    return {
      known: writing,
      isMixed: this.#shown.isMixed,
      isPlain: this.#shown.isPlain && !isSpoiling,
      isGuessed:
        isOpen && seemsBase64([...sample, ...records.slice(-SAMPLE).map(({ body }) => body)]),
      zone: this.#zone,
    };
  }

  #restored(record: HistoryRecord, text: string, known: Known): Upload {
    const { body, isAltered } = restore(text, known);
    const { chipid, appid } = this.#options;
    const time = toUnix(record.time, known.zone);
    const upload: Upload = {
      chipid,
      appid,
      timestamp: Number.isNaN(time) ? this.#options.now() : time,
      body,
      replayed: true,
      id: record.written,
    };
    if (isAltered) upload.altered = true;
    return upload;
  }

  /** For rule 13. */
  #remember({ everyHash }: HistoryRecord): void {
    const now = this.#options.now();
    if (now >= this.#recentUntil) this.#recent.clear();
    this.#recentUntil = now + ANNOUNCED_WITHIN;
    for (const hash of everyHash) this.#recent.set(hash, (this.#recent.get(hash) ?? 0) + 1);
    while (this.#recent.size > MOST_RECENT)
      this.#recent.delete(this.#recent.keys().next().value as number);
  }

  #wasGivenBack({ keys }: Arrival): boolean {
    if (this.#recent.size === 0) return false;
    if (this.#options.now() >= this.#recentUntil) {
      this.#recent.clear();
      return false;
    }
    const hash = WRITINGS.map((writing) => keys.hashes[writing]).find((each) =>
      this.#recent.has(each),
    );
    if (hash === undefined) return false;
    const left = (this.#recent.get(hash) ?? 0) - 1;
    if (left > 0) this.#recent.set(hash, left);
    else this.#recent.delete(hash);
    return true;
  }

  /** Rule 13: the history shows whether it was announced twice. */
  #doubt(arrival: Arrival): void {
    if (this.#isHopeless || !this.hasPosition) return;
    arrival.isDoubtful = true;
    this.isHolding = true;
    this.again = Math.min(this.again ?? 0, 0);
  }

  #isAtTime(record: HistoryRecord, arrival: Arrival): boolean {
    const skew = record.unix - arrival.timestamp;
    return Number.isNaN(skew) || Math.abs((this.#skew ?? skew) - skew) <= SAME_TIME;
  }

  /** Rule 17: an upload came both ways. */
  #learn(arrival: Arrival, record: HistoryRecord, { writing, isAmbiguous }: Pair): void {
    const { keys, timestamp } = arrival;
    const facts = this.#facts;
    facts.isUnderstood = true;
    if (!isAmbiguous) this.#learnTime(record, timestamp);
    const shown = shownBy(keys, record.hashes, writing, facts.learned);
    const { isMixed = this.#shown.isMixed, isPlain = this.#shown.isPlain } = shown;
    if (isMixed !== this.#shown.isMixed || isPlain !== this.#shown.isPlain)
      this.#show({ isMixed, isPlain });
    const before = facts.writing;
    facts.learn(shown.learned);
    const { writing: now } = facts;
    if (now && now !== before && now !== 'text' && facts.isNews(now))
      this.#reports.writing(now, arrival, record);
  }

  #learnTime(record: HistoryRecord, timestamp: number): void {
    const skew = record.unix - timestamp;
    if (Number.isNaN(skew)) return;
    this.#skew = skew;
    this.#facts.sawTime(this.#options.chipid, timestamp, record.time);
  }

  /** Ids may be counted across an application: then not every missing number is an upload of this device. */
  #reportLost({ records: [first] }: HistoryAnswer, isShort: boolean): void {
    const id = this.#id ?? BEFORE_ALL;
    if (!isShort || !first || BigInt(first.id) - BigInt(id) - 1n <= BigInt(this.#arrivals.length))
      return;
    this.#reports.lost(id, first.id);
  }
}

/** The place of the last record that is an arrival from before the request. */
const lastSure = (records: readonly HistoryRecord[], { pairs }: Comparison, sure: number): number =>
  records.findLastIndex((record) => (pairs.get(record)?.place ?? Infinity) < sure);

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
  const hash = arrival.keys.hashes[writing];
  const at = doubtful.findIndex((each) => arrivals[each]?.keys.hashes[writing] === hash);
  const older = doubtful[at] ?? Infinity;
  if (older > place || !arrival.held) return arrival;
  arrival.isDoubtful = true;
  doubtful[at] = place;
  doubtful.sort((a, b) => a - b);
  return arrivals[older] as Arrival;
}
