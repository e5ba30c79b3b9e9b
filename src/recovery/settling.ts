import { setImmediate as nextTurn } from 'node:timers/promises';
import { AGREEING, FORMS, type HistoryForm } from '../history/form';
import { BEFORE_ALL, HistoryRecord, type RecordId } from '../history/record';
import { USUAL_ZONE, toUnix, zoneOf, zoneOffset, zoneText } from '../history/zone';
import type { Upload } from '../types';
import type { HistoryAnswer } from './answer';
import type { Arrival } from './position';
import { type Delivery, type Due, MOST_RECENT } from './delivery';
import type { RecoveryDevice, RecoveryShared } from './options';
import { type Lost, type Since, edgeOf, lostBefore } from './ids';
import { PART, type Part, Reconciliation, firstTails } from './match';
import { show } from '../util/show';

/** How many first readings may be ambiguous before one is accepted nevertheless. */
export const FIRST_TRIES = 8;
/** Once this many arrivals in a row are not found in any form, the history is not understood. */
const UNPROVEN = 3;
/** For how many readings records that may be arrivals after all are waited for, about 20 seconds. */
const DOUBT_TRIES = 4;
/** How many uploads that came both ways are looked at to learn from a reading. */
const LEARNED_FROM = 8;

/** What became of an answer. */
export type Settled =
  /** Emitted; if it was not whole, as far as there was room for it. */
  | {
      kind: 'settled';
      isWhole: boolean;
      /** Of two equal uploads, it is open which of them the answer has. */
      isAmbiguous: boolean;
      /** Something that arrived may have been an upload of its own, or the late announcement of one. */
      hasDoubtful: boolean;
      /** The history no longer reaches back to the position. */
      isTruncated: boolean;
    }
  /** It is not known where what arrived meanwhile begins in it. */
  | { kind: 'no beginning' }
  /** The history is not understood, or does not show what it should. */
  | { kind: 'unclear' }
  | { kind: 'over' };

const OVER: Settled = { kind: 'over' };

/** What has been found in an answer and emitted, except for its last part. */
interface Emitted {
  /** Whether it contains uploads that arrived after it was requested. */
  hasOpen: boolean;
  /** The last part, and how its missed uploads are made. */
  due: readonly Due[];
  uploadOf: (record: HistoryRecord) => Upload;
}

/** The arrivals and their records, but not where a missed upload is equal: then it is open which record is which. */
function certainOf({ found, order }: Part, form: HistoryForm): [Arrival, HistoryRecord][] {
  const missed = new Set(order.map((each) => each instanceof HistoryRecord && each.key(form)));
  return [...found].filter(([, record]) => !missed.has(record.key(form) ?? ''));
}

/** Compares the answers of one device's history with what arrived, and emits what was missed. */
export class Settling {
  readonly #shared: RecoveryShared;
  readonly #device: RecoveryDevice;
  readonly #delivery: Delivery;
  /** How many arrivals were not found, one after the other. */
  #unfound = 0;
  #isUnproven = false;
  /** Some uploads of this device were in the history as text, and others in Base64. */
  #isMixed = false;
  #hasReportedEnd = false;
  /** The newest id when it was last reported that ids do not continue. */
  #oddAt: RecordId | undefined;

  constructor(shared: RecoveryShared, device: RecoveryDevice, delivery: Delivery) {
    this.#shared = shared;
    this.#device = device;
    this.#delivery = delivery;
  }

  /** Milliseconds that the history's times are ahead of UTC, as far as that is known. */
  get zone(): number {
    return this.#device.zone ?? this.#shared.facts.zone ?? zoneOffset(USUAL_ZONE);
  }

  /** An answer was ended although it may have more: reported once for each device. */
  reportEnded(): void {
    if (!this.#hasReportedEnd) this.#report(ENDED, 'long history');
    this.#hasReportedEnd = true;
  }

  /**
   * Emits what an answer shows to have been missed, and moves the position.
   * @param tries how often the history has been read since it was last clear
   * @param isSuspect whether something unreadable has arrived since the history was requested
   * @param signal ends it
   */
  async settle(
    answer: HistoryAnswer,
    tries: number,
    isSuspect: () => boolean,
    signal: AbortSignal,
  ): Promise<Settled> {
    for (const fault of answer.faults) this.#report(badRecord(fault), `bad record: ${fault}`);
    const { hasPosition } = this.#delivery.progress;
    const since = hasPosition ? answer.since() : this.#begin(answer, tries < FIRST_TRIES);
    if (!since) return { kind: 'no beginning' };
    const found = await this.#reconcile(answer, since, signal);
    if (signal.aborted) return OVER;
    this.#prove(answer, found);
    if (this.#isUnproven || this.#isOpen(found, tries)) return { kind: 'unclear' };
    const emitted = await this.#emit(answer, since, found, tries < DOUBT_TRIES, signal);
    return 'kind' in emitted ? emitted : this.#finish(answer, since, emitted, isSuspect());
  }

  /**
   * The first reading only sets the position: nothing before it is recovered. What arrives during the reading comes
   * after the position, as far as the answer contains it.
   * @returns undefined if it is not known what that is: then the history is read again
   */
  #begin({ records, edge, until }: HistoryAnswer, isPatient: boolean): Since | undefined {
    const delivery = this.#delivery;
    const { progress, isHolding } = delivery;
    const { sure, open, isGapped } = progress.arrivals;
    const tails = isHolding
      ? firstTails(records, [], [...sure, ...open])
      : firstTails(records, sure, open);
    const isClear = isHolding || (tails.length === 1 && !isGapped);
    if (!isClear && isPatient) return undefined;
    const before = Math.max(0, records.length - (isClear ? (tails[0] ?? 0) : 0));
    if (!isHolding) progress.arrivals.remove(new Set(sure));
    const known = records.slice(0, before);
    const isRecognised = edge !== undefined && known.length > 0;
    progress.moveTo(
      known.at(-1)?.id ?? BEFORE_ALL,
      isRecognised ? edgeOf(known, until) : undefined,
      true,
    );
    progress.isGapped = !isClear || isHolding;
    delivery.save();
    return { fresh: records.slice(before), isTruncated: false, isRestored: false };
  }

  /** Compares what was read with what arrived. */
  async #reconcile(
    { cutAt }: HistoryAnswer,
    since: Since,
    signal: AbortSignal,
  ): Promise<Reconciliation> {
    const { progress } = this.#delivery;
    const found = new Reconciliation(
      since,
      progress,
      progress.arrivals,
      this.#shared.facts.form,
      cutAt !== undefined,
    );
    for (const _ of found.compare()) {
      await nextTurn();
      if (signal.aborted) break;
    }
    return found;
  }

  /**
   * The history is not believed once three arrivals in a row that must be in it are not found there in any form, until
   * some are. Each is reported once.
   */
  #prove({ cutAt }: HistoryAnswer, { findings, records }: Reconciliation): void {
    if (cutAt !== undefined) return;
    let isUnproven = this.#isUnproven;
    for (const { arrival, isFound } of findings) {
      if (isFound) {
        isUnproven = false;
        this.#unfound = 0;
      } else if (!arrival.isCounted && ++this.#unfound >= UNPROVEN) isUnproven = true;
      arrival.isCounted = true;
    }
    if (isUnproven === this.#isUnproven) return;
    this.#isUnproven = isUnproven;
    const arrival = this.#delivery.progress.arrivals.sure.at(-1)?.keys.body ?? '…';
    if (isUnproven) this.#report(unproven(arrival, records.at(-1)?.body ?? ''), UNPROVEN_KIND);
    else this.#report(PROVEN, PROVEN_KIND);
  }

  /**
   * Whether none of the arrivals that must be in the answer is there, so that nothing shows its form: any record may be
   * one of them.
   */
  #isOpen({ findings, isProven, records }: Reconciliation, tries: number): boolean {
    const isOpen = findings.length > 0 && records.length > 0 && !isProven;
    if (isOpen && tries === DOUBT_TRIES) this.#report(pending(records.length), 'pending');
    return isOpen;
  }

  /** Emits what was missed and what is held back, in order, part by part: each is after the position until then. */
  async #emit(
    answer: HistoryAnswer,
    since: Since,
    found: Reconciliation,
    isPatient: boolean,
    signal: AbortSignal,
  ): Promise<Emitted | Settled> {
    const delivery = this.#delivery;
    const { progress } = delivery;
    const open = new Set(progress.arrivals.open);
    const lost =
      progress.isGapped &&
      lostBefore(since, progress.id ?? BEFORE_ALL, found.gone.length + progress.skip);
    const uploadOf = this.#maker(found);
    const isPlain = progress.skip === 0 && !since.isRestored;
    const pairs: [Arrival, HistoryRecord][] = [];
    let due: Due[] = [];
    let hasOpen = false;
    let done = 0;
    this.#emitHeld(found.gone, uploadOf);
    for (const part of found.parts()) {
      // Records that may be arrivals after all wait for another reading, but only a few times.
      if (part.doubtful.size > 0 && isPatient) return { kind: 'unclear' };
      due = this.#dueOf(part, found.form);
      pairs.push(...certainOf(part, found.form).slice(-LEARNED_FROM));
      hasOpen ||= [...part.found.keys()].some((arrival) => open.has(arrival));
      progress.arrivals.remove(new Set(part.found.keys()));
      done += part.records.length;
      const isLast = done === found.records.length;
      if (isLast) break;
      if (isPlain) this.#advance(found.records.slice(Math.max(0, done - 2 * PART), done), answer);
      delivery.emitAll(due, uploadOf);
      await nextTurn();
      if (signal.aborted) return OVER;
    }
    if (lost) this.#report(lostText(lost), 'uploads lost');
    this.#learn(pairs.slice(-LEARNED_FROM));
    return { hasOpen, due, uploadOf };
  }

  /** Marks what may lack something, or may be written in another form than the answer is read in. */
  #maker({ form, isAltering, isProven, isMixed }: Reconciliation): Emitted['uploadOf'] {
    const { appid, now, facts } = this.#shared;
    const { chipid } = this.#device;
    const origin = { appid, chipid, zone: 0, now: now() };
    // What other devices upload may be nothing that a form would alter, so that it says nothing about this one's.
    const isShown = isProven || this.#delivery.isPlain || facts.isWhole;
    const isUnknown = form === 'text' && !isShown;
    this.#isMixed ||= isMixed;
    return (record) => {
      // It may be learned from this answer.
      origin.zone = this.zone;
      const upload = record.upload(form, origin);
      const isBase64 = record.key('base64') !== undefined;
      const isEither = this.#isMixed && isBase64;
      // Text in a history that has shown only Base64: in which form is unknown.
      const isText = form === 'base64' && !isBase64 && !this.#isMixed && !facts.isWhole;
      if (isAltering || isUnknown || isEither || isText) upload.altered = true;
      return upload;
    };
  }

  /** What of a part of the history has to be emitted. */
  #dueOf({ order, doubtful }: Part, form: HistoryForm): Due[] {
    const due: Due[] = [];
    const recovered: HistoryRecord[] = [];
    for (const each of order) {
      if (!(each instanceof HistoryRecord)) {
        if (each.held) due.push(each.held);
      } else if (!doubtful.has(each)) {
        recovered.push(each);
        due.push(each);
      }
    }
    if (form === 'base64' && recovered.some((each) => each.key(form) === undefined))
      this.#report(NOT_BASE64, 'no Base64');
    if (doubtful.size > 0) this.#report(notGivenBack(doubtful.size), 'not given back');
    this.#delivery.remember(recovered.slice(-MOST_RECENT).map((each) => each.key(form) ?? ''));
    return due;
  }

  /** The records up to the last of these have been emitted. @param records by id, oldest first */
  #advance(records: readonly HistoryRecord[], { until }: HistoryAnswer): void {
    const { progress } = this.#delivery;
    const last = records.at(-1);
    if (last)
      progress.moveTo(last.id, progress.edge && edgeOf(records, until, progress.edge.time), true);
  }

  /** Emits arrivals that are held back, and forgets them. */
  #emitHeld(arrivals: readonly Arrival[], uploadOf: Emitted['uploadOf']): void {
    if (arrivals.length === 0) return;
    this.#delivery.progress.arrivals.remove(new Set(arrivals));
    const held = arrivals.flatMap((each) => (each.held && !each.isDoubtful ? [each.held] : []));
    this.#delivery.emitAll(held, uploadOf);
  }

  /**
   * The position moves to the newest record, and then the last part is emitted, and what is held back. So an end in
   * the midst of it leaves the position of before.
   */
  #finish(
    answer: HistoryAnswer,
    since: Since,
    { hasOpen, due, uploadOf }: Emitted,
    isSuspect: boolean,
  ): Settled {
    const delivery = this.#delivery;
    const { progress } = delivery;
    const { arrivals } = progress;
    const isWhole = answer.cutAt === undefined;
    // Of two equal uploads, one may have been missed, and the other be announced after the answer was made.
    const isAmbiguous = hasOpen && progress.isGapped;
    this.#reportIds(answer, since);
    const late = isWhole ? arrivals.markLate() : 0;
    progress.isGapped = isAmbiguous || arrivals.isGapped || isSuspect || !isWhole;
    const newest = answer.records.at(-1)?.id;
    // An answer that is older than the one before does not move the position back.
    if (since.behind === undefined && newest !== undefined)
      progress.moveTo(newest, answer.edge, progress.isGapped || late > 0, answer.measure);
    else progress.moveTo(progress.id ?? BEFORE_ALL, progress.edge, progress.isGapped || late > 0);
    delivery.emitAll(due, uploadOf);
    const { hasDoubtful } = arrivals;
    // What is in doubt came whole, and would come altered from the history: it waits for the next answer, as does the rest.
    if (isWhole && !hasDoubtful) delivery.stayLive();
    return { kind: 'settled', isWhole, isAmbiguous, hasDoubtful, isTruncated: since.isTruncated };
  }

  /** Remembers what uploads that came both ways show of the history, and reports a time zone that they contradict. */
  #learn(pairs: readonly [Arrival, HistoryRecord][]): void {
    const { facts } = this.#shared;
    const { zone } = this.#device;
    for (const [{ keys }, record] of pairs)
      // Binary data may be in Base64 among texts.
      if (keys.isText) {
        const isText = record.key('text') === keys.text;
        // A record that has what a form would have left out is not in this form.
        const isIn = (each: HistoryForm): boolean =>
          record.key(each) === keys[each] && !(isText && keys[each] !== keys.text);
        facts.sawForms(FORMS.filter(isIn));
        this.#delivery.isPlain = isText;
      }
    const timed = pairs.filter(([{ timestamp }, { time }]) => timestamp > 0 && time !== '');
    // Not all: other devices are to be heard, too.
    for (const [{ timestamp }, { time }] of timed.slice(-AGREEING)) {
      const shown = zoneOf(timestamp, toUnix(time, this.zone), this.zone);
      if (shown !== undefined) facts.sawZone(shown);
    }
    if (
      zone !== undefined &&
      facts.zone !== undefined &&
      zone !== facts.zone &&
      facts.isNews('zone')
    )
      this.#report(wrongZone(zone, facts.zone), 'wrong zone');
  }

  #reportIds(answer: HistoryAnswer, { isRestored, behind }: Since): void {
    const newest = answer.records.at(-1)?.id;
    if (newest === undefined) return;
    const isBehind = behind !== undefined;
    const isNews = isBehind ? this.#oddAt === undefined : this.#oddAt !== newest;
    if ((isRestored || isBehind) && isNews) this.#oddAt = newest;
    // After a record with an id far too high, all ids are odd.
    else if (!isRestored && !isBehind && newest !== this.#oddAt) this.#oddAt = undefined;
    if (!isNews) return;
    if (isRestored) this.#report(RESTORED, 'ids started over');
    if (isBehind)
      this.#report(
        behindText(newest, this.#delivery.progress.id ?? BEFORE_ALL, behind),
        'history behind',
      );
  }

  #report(text: string, kind: string): void {
    this.#delivery.fault(text, kind);
  }
}

/* What is reported to the log. */

const ENDED =
  'the history is long, and only its newest records were read, since its length does not tell whether it has more that is ' +
  'new: missed uploads with older times than 200 others, which the device kept while it was away or made with a wrong ' +
  'clock, would not be recovered. This is reported once for each device';

export const WAITING =
  'recovery is waiting: the histories of other devices use all of the memory reserved for reading';

/** The kind of the fault that a history does not contain what arrived live: missed uploads are not recovered. */
export const UNPROVEN_KIND = 'history not understood';
/** The kind of the report that it does again. */
export const PROVEN_KIND = 'history understood';
const PROVEN = 'the history contains what arrived live again: missed uploads are recovered';

/** @param arrived an upload that must be in the history @param record the newest body of the history */
const unproven = (arrived: string, record: string): string =>
  'missed uploads are not recovered for now, since the history does not contain what arrived live, in any form that ' +
  `is known: an upload was ${show(arrived)}, and the newest record is ${show(record)}`;

const notGivenBack = (count: number): string =>
  `${count} ${count === 1 ? 'record' : 'records'} of the history cannot be told apart from uploads that arrived live, ` +
  'and were not emitted';

const pending = (count: number): string =>
  `${count} ${count === 1 ? 'record' : 'records'} of the history cannot be told apart from uploads that arrived live, ` +
  'since the history has none of these in any form that is known. They are emitted once it has one';

const badRecord = (what: string): string =>
  `a record of the history could not be used, since ${what}; the others were`;

const NOT_BASE64 =
  'a body of the history is not Base64, although others are, and was taken as text';

/** @param setting milliseconds ahead of UTC, as is `shown` */
const wrongZone = (setting: number, shown: number): string =>
  `the time zone of the history is set to ${zoneText(setting)}, but uploads that came both ways show ${zoneText(shown)}: ` +
  'set it to auto, unless the clocks of the devices are wrong';

const RESTORED =
  'the ids of the history have started over, as after a restore; missed uploads are now identified by time and body';

/** @param unknown how many records may or may not be new */
const behindText = (newest: RecordId, position: RecordId, unknown: number): string =>
  `the newest id of the history, ${newest}, is below ${position}, which was read before: the history lags behind, or ` +
  'was restored from an older copy' +
  (unknown === 0
    ? ''
    : `; uploads may be lost, since ${unknown} of its records cannot be distinguished from older ones`);

const lostText = ({ after, before }: Lost): string =>
  `uploads may be lost: the history no longer has anything between the ids ${after} and ${before}, and fewer uploads ` +
  'than that arrived live';
