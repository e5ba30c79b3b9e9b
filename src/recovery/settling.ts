import { setImmediate as nextTurn } from 'node:timers/promises';
import { FORMS, isText, type HistoryForm } from '../history/form';
import { BEFORE_ALL, HistoryRecord, type RecordId } from '../history/record';
import { toUnix, USUAL_ZONE, zoneOf, zoneOffset } from '../history/zone';
import type { Upload } from '../types';
import type { HistoryAnswer } from './answer';
import type { Arrival } from './arrivals';
import { MOST_RECENT, type Delivery } from './delivery';
import type { RecoveryDevice, RecoveryShared } from './deps';
import { FIRST_TRIES } from './limits';
import { edgeOf, lostBefore, type Since } from './ids';
import { firstTails, PART, Reconciliation, type Part } from './match';
import * as reports from './reports';

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
  /** The last part. */
  due: readonly (() => Upload)[];
}

/** Compares the answers of one device's history with what arrived, and emits what was missed. */
export class Settling {
  readonly #shared: RecoveryShared;
  readonly #device: RecoveryDevice;
  readonly #delivery: Delivery;
  /** How many arrivals were not found, one after the other. */
  #unfound = 0;
  #isUnproven = false;
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

  /** The form that is set, or has been learned; undefined while nothing is known. */
  get #knownForm(): HistoryForm | undefined {
    const { encoding } = this.#device;
    return encoding === 'auto' ? this.#shared.facts.form : encoding;
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
    for (const fault of answer.faults)
      this.#report(reports.badRecord(fault), `bad record: ${fault}`);
    const { hasPosition } = this.#delivery.progress;
    const since = hasPosition ? answer.since() : this.#begin(answer, tries < FIRST_TRIES);
    if (!since) return { kind: 'no beginning' };
    const found = await this.#reconcile(since, signal);
    if (signal.aborted) return OVER;
    this.#prove(answer, found);
    if (this.#isUnproven) return { kind: 'unclear' };
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
  async #reconcile(since: Since, signal: AbortSignal): Promise<Reconciliation> {
    const { progress } = this.#delivery;
    const found = new Reconciliation(since, progress, progress.arrivals, this.#knownForm);
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
      if (isFound) isUnproven = false;
      if (isFound) this.#unfound = 0;
      else if (!arrival.isCounted && ++this.#unfound >= UNPROVEN) isUnproven = true;
      arrival.isCounted = true;
    }
    if (isUnproven === this.#isUnproven) return;
    this.#isUnproven = isUnproven;
    const arrival = this.#delivery.progress.arrivals.sure.at(-1)?.keys.text ?? '';
    if (isUnproven)
      this.#report(reports.unproven(arrival, records.at(-1)?.body ?? ''), reports.UNPROVEN_KIND);
    else this.#report(reports.PROVEN, reports.PROVEN_KIND);
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
    const isPlain = progress.skip === 0 && !since.isRestored;
    const pairs: [Arrival, HistoryRecord][] = [];
    let due: (() => Upload)[] = [];
    let hasOpen = false;
    let done = 0;
    this.#emitHeld(found.gone);
    for (const part of found.parts()) {
      // Records that may be arrivals after all wait for another reading, but only a few times.
      if (part.doubtful.size > 0 && isPatient) return { kind: 'unclear' };
      due = this.#dueOf(part, found.form);
      pairs.push(...[...part.found].slice(-LEARNED_FROM));
      hasOpen ||= [...part.found.keys()].some((arrival) => open.has(arrival));
      progress.arrivals.remove(new Set(part.found.keys()));
      done += part.records.length;
      const isLast = done === found.records.length;
      if (isLast) break;
      if (isPlain) this.#advance(found.records.slice(Math.max(0, done - 2 * PART), done), answer);
      delivery.emitAll(due);
      await nextTurn();
      if (signal.aborted) return OVER;
    }
    if (lost) this.#report(reports.lost(lost), 'uploads lost');
    this.#learn(pairs.slice(-LEARNED_FROM), found.form);
    return { hasOpen, due };
  }

  /** What a part of the history has to be emitted. */
  #dueOf({ order, doubtful }: Part, form: HistoryForm): (() => Upload)[] {
    const { appid, now } = this.#shared;
    const origin = { appid, chipid: this.#device.chipid, zone: this.zone, now: now() };
    const recovered: HistoryRecord[] = [];
    const due: (() => Upload)[] = [];
    let left = 0;
    for (const each of order) {
      if (!(each instanceof HistoryRecord)) {
        const { held } = each;
        if (held) due.push(() => held);
      } else if (doubtful.has(each)) left++;
      else {
        if (form === 'base64' && each.key(form) === undefined)
          this.#report(reports.NOT_BASE64, 'no Base64');
        recovered.push(each);
        due.push(() => each.upload(form, origin));
      }
    }
    if (left > 0) this.#report(reports.notGivenBack(left), 'not given back');
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
  #emitHeld(arrivals: readonly Arrival[]): void {
    if (arrivals.length === 0) return;
    this.#delivery.progress.arrivals.remove(new Set(arrivals));
    this.#delivery.emitAll(heldOf(arrivals));
  }

  /**
   * The position moves to the newest record, and then the last part is emitted, and what is held back. So an end in
   * the midst of it leaves the position of before.
   */
  #finish(
    answer: HistoryAnswer,
    since: Since,
    { hasOpen, due }: Emitted,
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
      progress.moveTo(newest, answer.edge, progress.isGapped || late > 0);
    else progress.moveTo(progress.id ?? BEFORE_ALL, progress.edge, progress.isGapped || late > 0);
    delivery.emitAll(due);
    const hasDoubtful = arrivals.open.some(({ isDoubtful }) => isDoubtful);
    if (isWhole) delivery.stayLive();
    return { kind: 'settled', isWhole, isAmbiguous, hasDoubtful, isTruncated: since.isTruncated };
  }

  /** Remembers what uploads that came both ways show of the history, and reports a setting that they contradict. */
  #learn(pairs: readonly [Arrival, HistoryRecord][], form: HistoryForm): void {
    const { facts } = this.#shared;
    const { encoding, zone } = this.#device;
    for (const [{ keys }, record] of pairs)
      // Binary data may be in Base64 among texts.
      if (isText(keys)) facts.sawForms(FORMS.filter((each) => record.key(each) === keys[each]));
    const newest = pairs.findLast(([{ timestamp }, { time }]) => timestamp > 0 && time !== '');
    if (newest) {
      const [{ timestamp }, { time }] = newest;
      const shown = zoneOf(timestamp, toUnix(time, this.zone), this.zone);
      if (shown !== undefined) facts.sawZone(shown);
    }
    if (pairs.length > 0 && encoding !== 'auto' && form !== encoding && facts.isNews(form))
      this.#report(reports.wrongForm(encoding, form), 'wrong encoding');
    if (
      zone !== undefined &&
      facts.zone !== undefined &&
      zone !== facts.zone &&
      facts.isNews('zone')
    )
      this.#report(reports.wrongZone(zone, facts.zone), 'wrong zone');
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
    if (isRestored) this.#report(reports.RESTORED, 'ids started over');
    if (isBehind)
      this.#report(
        reports.behind(newest, this.#delivery.progress.id ?? BEFORE_ALL, behind),
        'history behind',
      );
  }

  #report(text: string, kind: string): void {
    this.#delivery.fault(text, kind);
  }
}

/** Those of some arrivals that are held back and will be emitted. */
const heldOf = (arrivals: readonly Arrival[]): (() => Upload)[] =>
  arrivals.flatMap(({ held, isDoubtful }) => (held && !isDoubtful ? [() => held] : []));
