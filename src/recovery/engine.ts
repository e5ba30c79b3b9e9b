import type { Upload } from '../types';
import type { Arrival } from './arrival';
import { Arrivals } from './arrivals';
import { apart, BEFORE_ALL, HistoryAnswer, type RecordId } from './answer';
import { compare, type Compared, type Comparison, UNPROVEN } from './compare';
import { DeviceFacts, type DeviceOptions } from './facts';
import { type Position, readPosition } from './position';
import * as reports from './reports';

/*
 * When the history of one device is read for one listener, and what holds live uploads back, without input or output. The
 * numbers are those of the rules in docs/inside/recovery.md. `Arrivals` has what is remembered, held back and emitted (2, 5,
 * 13, 15), `compare` what an answer shows (4, 7, 8, 9, 10), `DeviceFacts` how an upload is made of a record (17, 18, 19),
 * `HistoryAnswer` what is kept of an answer (20, 21, 22).
 *
 *              first answer (1)               connected (3), doubt (13)
 *   no position ───────────────► live uploads ─────────────────────────► held back
 *        ▲                        go on (2)    ◄─────────────────────────  │  ▲
 *        │ 10,000 arrivals          │             all is there (5), or     │  │ too many (15): dropped,
 *        │ without an               │             no longer waits (6, 16)  │  │ the answer is read again
 *        └ answer (16) ─────────────┘                                      └──┘
 *
 * An answer, in `answer()`: `#begin` (1), `#startOver` (20), or `#settle`: what is missing has the history read again (6, 8);
 * otherwise all is emitted in order, and `#finish` forgets what has not come (7, 9), moves the position, and says when to read
 * next (11, 12, 13, 21).
 */

/** At this unclear answer in a row live uploads go on, and at this one it is used (rule 6). */
const LIVE_TRIES = 3;
const USED_TRIES = 5;
/** After this many failed readings in a row, live uploads go on (rule 16). */
const FAILED_TRIES = 5;

/**
 * Recovers what the channel of one device missed, for one listener: when its history is read, and what holds live uploads
 * back. Whoever drives it reads histories when `again` says so, and passes on what comes.
 */
export class Engine {
  /** Whether live uploads are held back. */
  isHolding = false;
  /** The history is to be read: at once if 0, otherwise with a pause that grows with it. */
  again: number | undefined;
  /** Failed readings in a row. */
  failures = 0;
  /** The last answers had none of the arrivals that must be in them (rule 8), which is said once. */
  #isUnproven = false;
  /** The newest id is below the position, which is said once (rule 20). */
  #isBehind = false;
  /** The history lags, or is behind, and may not have shown yet all that was missed. */
  #mayLack = false;
  /** There was a gap since the last answer that was used. */
  #isGapped = true;
  /** Since the request: something unreadable came, or uploads were dropped. */
  #isDisturbed = false;
  #isOverflown = false;
  /** Unclear answers in a row. */
  #unclear = 0;
  #unreadable = 0;
  /** Answers in a row that may lack what was missed (rule 6). */
  #lacking = 0;
  /** Answers in a row that may owe the record of an arrival (rule 12). */
  #owed = 0;
  /** The number of arrivals after which the history is read. */
  #due = 1;
  /** How many records the history shows if it shows only its newest; infinite unless that has been seen. */
  #shows = Infinity;
  /** The answer that is being read or looked at. */
  #answer: HistoryAnswer | undefined;
  readonly #arrivals: Arrivals;
  readonly #device: DeviceFacts;
  readonly #options: DeviceOptions;

  constructor(options: DeviceOptions) {
    const { start } = options;
    this.#options = options;
    this.#device = new DeviceFacts(options);
    this.#arrivals = new Arrivals(options, this.#device);
    if (!start) return;
    const { id, arrivals, ...shown } = readPosition(start);
    this.#arrivals.id = id;
    this.#arrivals.all = [...arrivals];
    this.#device.shown = shown;
  }

  get hasPosition(): boolean {
    return this.#arrivals.id !== undefined;
  }

  /** Whether, as far as is known, no upload so far can turn out to have been missed. */
  get isComplete(): boolean {
    return this.hasPosition && !this.#isGapped;
  }

  get isDoubting(): boolean {
    return this.#arrivals.isDoubting;
  }

  /** The last answers were unclear, and were used nevertheless, or prove nothing: rules 6 and 8. */
  get isUnclear(): boolean {
    return this.#unclear >= USED_TRIES;
  }

  /** Returns what makes the position up to which uploads have been emitted by now; undefined before the first reading. */
  position(): (() => Position) | undefined {
    return this.#arrivals.position();
  }

  /** It goes on, or waits for the history: rules 2, 6, 13 and 15. */
  upload(upload: Upload): void {
    // No history keeps what comes in the transparent serial mode (rule 23).
    if (upload.type !== undefined) {
      this.#options.emit(upload);
      return;
    }
    this.#unreadable = 0;
    const arrivals = this.#arrivals;
    const arrival = arrivals.next(upload);
    // The history shows whether it was announced twice.
    const isDoubtful = arrivals.wasGivenBack(arrival) && this.hasPosition && !this.#isHopeless;
    if (isDoubtful || (this.#mayLack && !this.#isHopeless)) {
      arrival.isDoubtful = isDoubtful;
      if (isDoubtful || !this.isHolding) this.again = 0;
      this.again ??= 0;
      this.isHolding = true;
    }
    if (this.isHolding && !arrivals.hold(arrival, upload)) {
      // What is held back may be left to the history, unless that is in doubt.
      if (this.#isHopeless || this.#unclear > 0) this.#goLive();
      else {
        arrivals.drop();
        arrival.isAfterGap = true;
        arrivals.hold(arrival, upload);
        this.#isOverflown = true;
        this.#isGapped = true;
        this.again ??= 0;
      }
    }
    const isLive = !arrival.held;
    // A position that is made meanwhile is the one before it.
    if (isLive) this.#options.emit(upload);
    arrivals.all.push(arrival);
    if (isLive) this.#checkArrivals();
  }

  /** Something arrived that could not be read, perhaps an upload: rule 14. */
  gap(): void {
    this.#arrivals.isAfterGap = true;
    this.#isGapped = true;
    this.#isDisturbed = true;
    this.again ??= ++this.#unreadable + 1;
  }

  connected(): void {
    this.#arrivals.isAfterGap = true;
    this.#isGapped = true;
    this.#unreadable = 0;
    this.#lacking = 0;
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
    this.#arrivals.removeFirst();
    this.again = this.failures;
  }

  /** The history is being requested. */
  request(): HistoryAnswer {
    const { all, id } = this.#arrivals;
    const { shown, facts } = this.#device;
    this.again = undefined;
    this.#arrivals.sure = all.length;
    this.#isDisturbed = false;
    this.#isOverflown = false;
    this.#answer?.release();
    return (this.#answer = new HistoryAnswer({
      chipid: this.#options.chipid,
      after: id,
      shown,
      expected: all.filter((arrival) => arrival.mustBeThere(facts.writing)).length,
      mayEnd: this.#unclear === 0,
      margin: this.#options.limits.margin,
      budget: this.#options.budgets.answers,
    }));
  }

  /** A reading has failed: rule 16. */
  failed(): void {
    this.again = ++this.failures;
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
    this.#arrivals.removeFirst();
  }

  /** Emits what an answer shows. All that was announced before it has arrived. Step by step, for the event loop. */
  *answer(answer: HistoryAnswer): Generator<void> {
    this.failures = 0;
    answer.end();
    for (const fault of answer.faults) this.#options.log(...reports.unusable(fault));
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
    const arrivals = this.#arrivals;
    const isQuiet = arrivals.all.length === arrivals.sure && !this.#isDisturbed;
    arrivals.removeFirst(arrivals.sure);
    arrivals.loosen();
    this.#moveTo(answer.newest, answer);
    this.#isGapped = !isQuiet;
    if (isQuiet) arrivals.closeGap();
    else this.again ??= 1;
    this.#due = 1;
  }

  /** Rule 20. */
  #startOver(): void {
    this.#options.log(...reports.STARTED_OVER);
    this.#arrivals.loosen();
    this.#device.show({ afterTime: this.#device.latestTime, measure: undefined });
    this.#arrivals.id = BEFORE_ALL;
    this.again = 0;
  }

  /** Emits what an answer shows, unless it is unclear: rules 6 and 8. */
  *#settle(answer: HistoryAnswer): Generator<void> {
    const compared = this.#compared(answer);
    const { records } = answer;
    const { arrivals, sure, requested } = compared;
    const found = compare(compared);
    yield;
    let use = records.length;
    const [awaited] = found.awaited;
    if (awaited === undefined) {
      this.#unclear = 0;
      if (this.#isUnproven) this.#options.log(...reports.PROVEN);
      this.#isUnproven = false;
    } else {
      const isUnproven = found.pairs.size === 0 && found.awaited.length >= UNPROVEN;
      const isUsed = ++this.#unclear >= USED_TRIES;
      if (this.#unclear >= LIVE_TRIES) this.#release();
      this.again = this.#unclear;
      if (isUnproven) {
        if (this.#isUnproven || this.#unclear < LIVE_TRIES) return;
        this.#isUnproven = true;
        this.#options.log(...reports.unproven(arrivals[sure - 1], records.at(-1)));
        return;
      }
      // What follows the last arrival that is there waits for the next answer.
      const isSure = (place = Infinity): boolean => place < sure;
      if (!isUsed && awaited < requested)
        use = 1 + records.findLastIndex((record) => isSure(found.pairs.get(record)?.place));
    }
    yield* this.#arrivals.emit(records.slice(0, use), arrivals, found, answer);
    if (use < records.length) this.#arrivals.sweep();
    else this.#finish(answer, compared, found);
  }

  /** What an answer is compared with. */
  #compared(answer: HistoryAnswer): Compared {
    const device = this.#device;
    const [first] = answer.records;
    if (answer.isMixed) device.show({ isUnordered: true });
    const { sure: requested, id: position = BEFORE_ALL } = this.#arrivals;
    const arrivals = [...this.#arrivals.all];
    const isBehind = answer.newest < position && answer.length > 0;
    if (isBehind && !this.#isBehind) this.#options.log(...reports.behind(answer.newest, position));
    this.#isBehind = isBehind;
    const afterGap = this.#isGapped || this.#mayLack ? this.#arrivals.afterGap : Infinity;
    // Of a history that lags, what was missed is there once what came after it is (rule 6).
    const isAwaited = device.shown.isLagging && afterGap < arrivals.length;
    const sure = isAwaited ? Math.max(requested, afterGap + 1) : requested;
    const isShort = first && !answer.hasOld && !answer.isEnded && position >= 0;
    // Ids may be counted across an application: then not every missing number is an upload of this device.
    if (isShort && apart(position, first.id) - 1 > arrivals.length)
      this.#options.log(...reports.lost(position, first.id));
    const shortAfter = isShort ? position : undefined;
    return { answer, arrivals, sure, requested, device, afterGap, shortAfter };
  }

  /** All of an answer has been emitted. */
  #finish(
    answer: HistoryAnswer,
    { arrivals, requested, afterGap, shortAfter }: Compared,
    found: Comparison,
  ): void {
    const { id = BEFORE_ALL } = this.#arrivals;
    if (!answer.isCut) this.#forgetMissing(arrivals, requested, found);
    this.#arrivals.sweep();
    if (answer.records.length > 0) this.#device.show({ afterTime: undefined });
    this.#moveTo(answer.newest > id && !answer.isCut ? answer.newest : id, answer);
    if (answer.isCut) {
      this.again = 0;
      return;
    }
    const newest = Math.max(-1, ...found.found);
    const wasGapped = this.#isGapped;
    this.#isGapped = this.#isDisturbed;
    const isBehind = this.#device.shown.isLagging || answer.newest < id;
    this.#mayLack = isBehind && (wasGapped || this.#mayLack) && newest < afterGap;
    if (this.#mayLack && this.#lacking < USED_TRIES) this.again ??= ++this.#lacking;
    const isClear = found.awaited.length === 0;
    if (!this.#isDisturbed && isClear && !this.#mayLack) this.#arrivals.closeGap();
    if (this.isDoubting) this.again = 0;
    else if (isClear || this.#unclear >= LIVE_TRIES) this.#release();
    // A record that was taken for an arrival after the request may be an equal one that was missed before it, and its own
    // record follows (rule 12).
    if (newest >= requested && (wasGapped || this.#owed > 0)) this.again ??= this.#owed++;
    else this.#owed = 0;
    const { small, least, short, long } = this.#options.limits;
    if (shortAfter !== undefined) this.#shows = answer.length;
    else if (answer.length > this.#shows) this.#shows = Infinity;
    const isWhole = !answer.isEnded && answer.bytes <= small;
    const due = isWhole ? answer.length / 2 : this.#shows * 0.75;
    this.#due = Math.min(Math.max(least, Math.ceil(due)), isWhole ? short : long);
  }

  /** Arrivals that an answer should have had are looked for no more, or only until a later one is there: rules 7 and 9. */
  #forgetMissing(arrivals: readonly Arrival[], requested: number, found: Comparison): void {
    for (const place of found.passed) {
      const arrival = arrivals[place] as Arrival;
      if (arrival.isDone) continue;
      this.#arrivals.leave(arrival);
      this.#options.log(...reports.missing(arrival));
    }
    const { writing } = this.#device.facts;
    for (const place of found.awaited)
      if (place < requested) (arrivals[place] as Arrival).isLate = true;
    for (const [place, arrival] of arrivals.slice(0, requested).entries()) {
      if (arrival.isDone || arrival.mustBeThere(writing)) continue;
      const isLookedFor = arrival.isLate || arrival.mayBeEmpty(writing);
      if (isLookedFor && place >= found.end) continue;
      this.#arrivals.leave(arrival);
      if (arrival.isLate) this.#options.log(...reports.missing(arrival));
    }
  }

  #moveTo(id: RecordId, answer: HistoryAnswer): void {
    this.#arrivals.id = id;
    const seen = answer.seenUpTo(id);
    this.#device.show({ ...(seen.length > 0 && { seen }), measure: answer.measure });
  }

  get #isHopeless(): boolean {
    return this.failures >= FAILED_TRIES || this.#unclear >= LIVE_TRIES;
  }

  /** Emits all that is held back, and holds back nothing. */
  #release(): void {
    this.isHolding = false;
    if (this.#arrivals.release()) this.#checkArrivals();
  }

  #goLive(): void {
    if (!this.isHolding) return;
    this.#options.log(...reports.LATE);
    this.#release();
  }

  /** Rules 11 and 16. If there are many devices, histories are read earlier, so that they do not remember too many. */
  #checkArrivals(): void {
    const { length } = this.#arrivals.all;
    const { forgotten, least, arrivals } = this.#options.limits;
    const due = Math.min(this.#due, Math.max(least, arrivals / this.#options.devices()));
    if (length >= forgotten) {
      this.#options.log(...reports.GIVEN_UP);
      this.#arrivals.id = undefined;
      this.#arrivals.removeFirst();
      this.again ??= this.failures;
    } else if (this.hasPosition && this.#unclear === 0 && length >= due)
      this.again ??= this.failures;
  }
}
