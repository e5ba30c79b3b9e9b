import {
  FORMS,
  isLossy,
  mayBeEmpty,
  savedKey,
  type BodyKeys,
  type HistoryForm,
} from '../history/form';
import type { HistoryRecord } from '../history/record';
import type { Arrival } from './position';
import type { Since } from './ids';

/** How many records are compared at once: the event loop must not be blocked. */
export const PART = 2000;

const BIT: Readonly<Record<HistoryForm, number>> = { text: 1, trimmed: 2, tagged: 4, base64: 8 };

/** Items by a key, in their order. */
function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const same = groups.get(key);
    if (same) same.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/**
 * In which forms the arrivals are found in a history. An arrival and a record are one upload if they are equal under
 * the form in which the history writes bodies.
 */
class Evidence {
  readonly #found: Uint8Array;
  /** The form in which all that must be in the history are found. Then only others are looked for in further forms. */
  #plain: HistoryForm | undefined;
  readonly #isSure: (index: number) => boolean;
  readonly #known: HistoryForm | undefined;

  /** @param isSure whether an arrival, by its place, must be in the history */
  constructor(
    readonly arrived: readonly BodyKeys[],
    isSure: (index: number) => boolean,
    known: HistoryForm | undefined,
  ) {
    this.#isSure = isSure;
    this.#known = known;
    this.#found = new Uint8Array(arrived.length);
  }

  /** Looks for the arrivals in records, part by part. */
  *see(records: readonly HistoryRecord[]): Generator<void> {
    const all = [...this.arrived.keys()];
    const first = this.#known ?? 'text';
    const done = new Set<HistoryForm>();
    // What is found under a form that loses something may also be there as it was.
    if (!isLossy(first)) yield* this.#look(first, all, records, done);
    // While no form is known, a text and the same in Base64 may both be there.
    if (!this.#known) yield* this.#look('base64', all, records, done);
    const isFirst = (index: number): boolean => this.#found[index] === BIT[first];
    const sure = all.filter((index) => this.#isSure(index));
    const isPlain = done.size > 0 && sure.length > 0 && sure.every(isFirst);
    if (isPlain) this.#plain = first;
    const rest = isPlain ? all.filter((index) => !this.isFound(index)) : all;
    for (const form of rest.length > 0 ? FORMS : [])
      if (!done.has(form)) yield* this.#look(form, rest, records, done);
  }

  /** Whether an arrival has a record that is equal to it in this form, or in any. */
  isFound(index: number, form?: HistoryForm): boolean {
    const found = this.#found[index] ?? 0;
    return form ? (found & BIT[form]) !== 0 : found !== 0;
  }

  /** Whether an arrival has a record, but none that keeps all of it. */
  isOnlyLossy(index: number): boolean {
    const found = this.#found[index] ?? 0;
    return found !== 0 && (found & (BIT.text | BIT.base64)) === 0;
  }

  /** Whether an arrival is found only in Base64 although the answer is read as text, or only as text although in Base64. */
  isOther(index: number, form: HistoryForm): boolean {
    const found = this.#found[index] ?? 0;
    return form === 'base64' ? found !== 0 && (found & BIT.base64) === 0 : found === BIT.base64;
  }

  /**
   * The form of the answer: the one in which most arrivals are found. If several are equal in that, it is the known one,
   * or text, and the others are its rivals.
   */
  choose(): { form: HistoryForm; rivals: readonly HistoryForm[] } {
    if (this.#plain) return { form: this.#plain, rivals: [] };
    const texts = this.#scores(true);
    const isAny = FORMS.some((form) => texts[form] > 0);
    const scores = isAny ? texts : this.#scores(false);
    let form = this.#known ?? 'text';
    for (const other of FORMS) if (scores[other] > scores[form]) form = other;
    const isRival = (other: HistoryForm): boolean =>
      other !== form && scores[other] === scores[form];
    return { form, rivals: form === this.#known ? [] : FORMS.filter(isRival) };
  }

  /**
   * Whether an arrival must have a record, and has none in any form. An upload that may leave nothing in some form
   * counts neither way: the history may have no record of it.
   */
  isMissing(index: number): boolean {
    const keys = this.arrived[index];
    return keys !== undefined && !this.isFound(index) && !mayBeEmpty(keys);
  }

  *#look(
    form: HistoryForm,
    indices: readonly number[],
    records: readonly HistoryRecord[],
    done: Set<HistoryForm>,
  ): Generator<void> {
    done.add(form);
    const wanted = groupBy(indices, (index) => this.arrived[index]?.[form] ?? '');
    for (let at = 0; at < records.length && wanted.size > 0; at++) {
      const key = records[at]?.key(form);
      const equal = key === undefined ? undefined : wanted.get(key);
      if (equal && key !== undefined) {
        wanted.delete(key);
        for (const index of equal) this.#found[index] = (this.#found[index] ?? 0) | BIT[form];
      }
      if (at % PART === PART - 1) yield;
    }
  }

  /**
   * How many arrivals are found in each form: texts, or binary data. Only those that must be in the history show a form
   * that loses something, since the record of another upload may be equal to the rest of an upload that is not there yet.
   */
  #scores(ofTexts: boolean): Record<HistoryForm, number> {
    const scores = { text: 0, trimmed: 0, tagged: 0, base64: 0 };
    for (const [index, keys] of this.arrived.entries())
      for (const form of keys.isText === ofTexts ? FORMS : [])
        if (this.#isSure(index) || !isLossy(form) || keys[form] === keys.text)
          scores[form] += Number(this.#shows(index, keys, form));
    return scores;
  }

  /** Whether an arrival speaks for a form: not if it is found with what this form would have left out. */
  #shows(index: number, keys: BodyKeys, form: HistoryForm): boolean {
    if (!this.isFound(index, form)) return false;
    const isWhole = (other: HistoryForm): boolean =>
      keys[other] !== keys[form] && this.isFound(index, other);
    return !isLossy(form) || !(isWhole('text') || (form === 'tagged' && isWhole('trimmed')));
  }
}

/** What has been emitted after the position by an earlier run. */
export interface Emitted {
  /** How many records: the first ones, unless the history lagged behind. */
  skip: number;
  /** The keys of the last one of them. */
  last: BodyKeys | undefined;
}

const isOne = (record: HistoryRecord | undefined, keys: BodyKeys, form: HistoryForm): boolean =>
  record !== undefined && record.key(form) === keys[form];

/**
 * Leaves out the records that an earlier run has emitted: as many as it counted, up to the record that is equal to the last
 * of them. The count may be too small, if the history lagged behind and shows now what was missed, or too large, if some
 * records cannot be used.
 */
function afterEmitted(
  records: readonly HistoryRecord[],
  { skip, last }: Emitted,
  form: HistoryForm,
  isTruncated: boolean,
): readonly HistoryRecord[] {
  if (skip === 0) return records;
  const lastBefore = (end: number): number =>
    last ? records.slice(0, end).findLastIndex((record) => isOne(record, last, form)) : -1;
  if (isTruncated) return records.slice(lastBefore(skip) + 1);
  const at = records[skip - 1];
  let end = skip;
  if (last && at && at.body !== undefined && !isOne(at, last, form)) {
    const later = records.findIndex((record, index) => index >= skip && isOne(record, last, form));
    end = later >= 0 ? later + 1 : lastBefore(skip) + 1 || skip;
  }
  return [...records.slice(0, Math.max(0, end - skip)), ...records.slice(end)];
}

/** Restores the keys of arrivals of an earlier run, of which only hashes were saved, from those of the records. */
function* restore(
  arrived: readonly BodyKeys[],
  records: readonly HistoryRecord[],
): Generator<void> {
  const saved = arrived.filter(({ isSaved }) => isSaved);
  if (saved.length === 0) return;
  const wanted = new Set(saved.flatMap((each) => FORMS.map((form) => each[form])));
  const keys = new Map<string, string>();
  for (const [at, record] of records.entries()) {
    for (const key of new Set(FORMS.map((form) => record.key(form)))) {
      const hash = key === undefined ? '' : savedKey(key);
      if (key !== undefined && wanted.has(hash)) keys.set(hash, key);
    }
    if (at % PART === PART - 1) yield;
  }
  for (const each of saved) each.restore(keys);
}

/** Whether an arrival and a record are equal in some form. */
const mayBeOne = ({ keys }: Arrival, record: HistoryRecord | undefined): boolean =>
  FORMS.some((form) => record?.key(form) === keys[form]);

/** Of how many arrivals before a reading its answer has to end with their records. */
const ANCHORS = 8;

/**
 * Finds out how many of the arrivals during a first reading its answer contains: it ends with the last of those before
 * it, and then the first of them. Nothing before the first position is compared otherwise, since old uploads may be equal
 * to new ones.
 * @returns all possible numbers, the highest first
 */
export function firstTails(
  records: readonly HistoryRecord[],
  sure: readonly Arrival[],
  open: readonly Arrival[],
): number[] {
  const anchors = sure.slice(-ANCHORS);
  const tails: number[] = [];
  for (let tail = open.length; tail >= 0; tail--) {
    const end = [...anchors, ...open.slice(0, tail)].slice(-records.length);
    const from = records.length - end.length;
    const fits = end.every((arrival, index) => mayBeOne(arrival, records[from + index]));
    if (fits && (records.length > 0 || tail === 0)) tails.push(tail);
  }
  return tails;
}

/** Part of a history, compared with the arrivals. */
export interface Part {
  records: readonly HistoryRecord[];
  /** In the order of the records: a missed one, or the arrival that it is. */
  order: readonly (HistoryRecord | Arrival)[];
  found: ReadonlyMap<Arrival, HistoryRecord>;
  /** Of the missed ones, those that may be arrivals after all. */
  doubtful: ReadonlySet<HistoryRecord>;
}

/** What a reading has shown, compared with what arrived. */
export class Reconciliation {
  /** The form in which the answer is read. */
  form: HistoryForm = 'text';
  /**
   * The arrivals that must be in the history, oldest first, and whether it has them in any form. Uploads that it may have
   * nothing of count only if they are there.
   */
  findings: readonly { arrival: Arrival; isFound: boolean }[] = [];
  /** Whether any arrival is in the answer. */
  isProven = false;
  /** Whether some arrivals are in the answer only in a form that loses something, so that any record may lack it. */
  isAltering = false;
  /** Whether some arrivals are in the answer as text, and others in Base64. */
  isMixed = false;
  /** Arrivals that have left a short history: they are older than all of its records. */
  gone: readonly Arrival[] = [];
  /** The records after those that an earlier run has emitted. */
  records: readonly HistoryRecord[] = [];
  readonly #since: Since;
  readonly #emitted: Emitted;
  readonly #all: readonly Arrival[];
  /** How many arrivals, from the first on, must be in the history. */
  readonly #sure: number;
  readonly #evidence: Evidence;
  readonly #isCut: boolean;
  #rivals: readonly HistoryForm[] = [];
  /** Whether all records that are left over may be arrivals that were not found. */
  #mayBeMissing = false;
  /** The places of arrivals that no record has been found for. */
  #left: readonly number[] = [];

  /**
   * @param since the records after the position
   * @param known the form that has been learned or set; undefined while nothing is known
   * @param isCut whether the newest records were left out, so that no arrival is missing
   */
  constructor(
    since: Since,
    emitted: Emitted,
    { sure, open }: { sure: readonly Arrival[]; open: readonly Arrival[] },
    known: HistoryForm | undefined,
    isCut: boolean,
  ) {
    this.#isCut = isCut;
    this.#since = since;
    this.#emitted = emitted;
    this.#all = [...sure, ...open];
    this.#sure = sure.length;
    const keys = this.#all.map((arrival) => arrival.keys);
    if (emitted.last) keys.push(emitted.last);
    const isOpen = (place: number): boolean => place >= sure.length && place < this.#all.length;
    this.#evidence = new Evidence(keys, (place) => !isOpen(place), known);
  }

  /** Compares the records with the arrivals, part by part; then the rest of this can be used. */
  *compare(): Generator<void> {
    const [all, evidence] = [this.#all, this.#evidence];
    const { fresh, isTruncated } = this.#since;
    yield* restore(evidence.arrived, fresh);
    if (evidence.arrived.length > 0) yield* evidence.see(fresh);
    ({ form: this.form, rivals: this.#rivals } = evidence.choose());
    const every = [...evidence.arrived.keys()];
    this.isProven = every.some((place) => evidence.isFound(place));
    this.isAltering = every.some((place) => evidence.isOnlyLossy(place));
    this.isMixed = every.some((place) => evidence.isOther(place, this.form));
    this.records = afterEmitted(fresh, this.#emitted, this.form, isTruncated);
    // An arrival that has left a short history must not match an equal record that is still in it.
    const places = [...all.keys()];
    const last = places.findLastIndex((place) => evidence.isFound(place)) + 1;
    const compared = all.slice(0, Math.max(last, this.#sure));
    this.gone = isTruncated ? compared.slice(0, startWithin(compared, this.records)) : [];
    this.#left = places.slice(this.gone.length);
    // A record that cannot be read may be any upload.
    const isReadable = this.records.every(({ body }) => body !== undefined);
    const sure = places.slice(this.gone.length, this.#sure);
    const missing = sure.filter((place) => this.#isMissing(place));
    this.findings = sure
      .filter((place) => evidence.isFound(place) || (isReadable && this.#isMissing(place)))
      .map((place) => ({
        arrival: all[place] as Arrival,
        isFound: evidence.isFound(place),
      }));
    // As few records as there are arrivals without one: they may be these arrivals in a form that is not known.
    const found = places.filter((place) => evidence.isFound(place)).length;
    this.#mayBeMissing = missing.length > 0 && this.records.length - found <= missing.length;
  }

  /**
   * Finds out which records are arrivals, and which were missed, part by part. Equal ones are counted: as many records
   * are left over as were missed, whichever of them they are.
   */
  *parts(): Generator<Part> {
    for (let from = 0; from < this.records.length; from += PART)
      yield this.#match(this.records.slice(from, from + PART));
  }

  #match(records: readonly HistoryRecord[]): Part {
    const evidence = this.#evidence;
    const of = new Map<HistoryRecord, number>();
    const pair = (form: HistoryForm, candidates: readonly number[]): void => {
      if (candidates.length === 0) return;
      const pool = groupBy(candidates, (place) => this.#keysOf(place)[form]);
      const taken = new Set<number>();
      for (const record of records) {
        const key = of.has(record) ? undefined : record.key(form);
        const place = key === undefined ? undefined : pool.get(key)?.shift();
        if (place === undefined) continue;
        of.set(record, place);
        taken.add(place);
      }
      this.#left = this.#left.filter((place) => !taken.has(place));
    };
    pair(this.form, this.#left);
    // Bodies may be written in several forms: binary data in Base64 among texts, or all in another one from now on.
    const others = this.#left.filter(
      (place) => evidence.isFound(place) && !evidence.isFound(place, this.form),
    );
    for (const form of others.length === 0 ? [] : FORMS) {
      const left = new Set(this.#left);
      const candidates = others.filter((place) => left.has(place));
      pair(form, isLossy(form) ? candidates.filter((place) => place < this.#sure) : candidates);
    }
    const order: (HistoryRecord | Arrival)[] = [];
    const found = new Map<Arrival, HistoryRecord>();
    const doubtful = new Set<HistoryRecord>();
    const isDoubtful = of.size === records.length ? undefined : this.#doubts(records, of);
    for (const [at, record] of records.entries()) {
      const place = of.get(record);
      const arrival = place === undefined ? undefined : this.#all[place];
      if (arrival) {
        order.push(arrival);
        found.set(arrival, record);
      } else if (record.body !== undefined) {
        order.push(record);
        if (isDoubtful?.(record, at)) doubtful.add(record);
      }
    }
    return { records, order, found, doubtful };
  }

  /** What is in doubt may have been given back already. */
  #isMissing(place: number): boolean {
    const mustBeThere = !this.#isCut && this.#all[place]?.isDoubtful !== true;
    return mustBeThere && this.#evidence.isMissing(place);
  }

  #keysOf(place: number): BodyKeys {
    return this.#evidence.arrived[place] as BodyKeys;
  }

  /** Tells of a record that was not found among the arrivals whether it may be one after all. */
  #doubts(
    records: readonly HistoryRecord[],
    of: ReadonlyMap<HistoryRecord, number>,
  ): (record: HistoryRecord, at: number) => boolean {
    const isBetween = this.#betweenFound(records, of);
    const every = [...this.#evidence.arrived.keys()];
    const inOther = FORMS.map((other) => {
      const places = this.#rivals.includes(other) ? every : this.#left;
      return [other, groupBy(places, (place) => this.#keysOf(place)[other])] as const;
    });
    // An arrival that has no record, or any one if as much speaks for the other form.
    const isInAnother = (record: HistoryRecord): boolean => {
      if (every.length === 0) return false;
      const own = record.key(this.form);
      return inOther.some(([other, groups]) => {
        const key = groups.size === 0 ? undefined : record.key(other);
        const equal = key === undefined ? [] : (groups.get(key) ?? []);
        return equal.some((place) => this.#keysOf(place)[this.form] !== own);
      });
    };
    return (record, at) => this.#mayBeMissing || isBetween(at) || isInAnother(record);
  }

  /**
   * Tells for a place in the records whether the record there may be an arrival that was not found in any form: it lies
   * between two records that were found, and so does such an arrival; or it follows the last that was found as directly
   * as such an arrival does, without a gap.
   */
  #betweenFound(
    records: readonly HistoryRecord[],
    of: ReadonlyMap<HistoryRecord, number>,
  ): (at: number) => boolean {
    const unfound = this.#left.filter((place) => this.#isMissing(place));
    if (unfound.length === 0 || of.size === 0) return () => false;
    const lastBefore = (ordered: readonly HistoryRecord[]): number[] => {
      let last = -1;
      return ordered.map((record) => {
        const before = last;
        last = of.get(record) ?? last;
        return before;
      });
    };
    const low = lastBefore(records);
    const high = lastBefore(records.toReversed()).reverse();
    const lastAt = records.findLastIndex((record) => of.has(record));
    const last = of.get(records[lastAt] as HistoryRecord) ?? -1;
    const missing = new Set(unfound);
    let next = last + 1;
    while (missing.has(next) && this.#all[next]?.isAfterGap === false) next++;
    const end = lastAt + (next - last);
    return (at) =>
      (at > lastAt && at < end) ||
      unfound.some((place) => place > (low[at] ?? -1) && place < (high[at] ?? -1));
  }
}

/** Where the longest end of the arrivals begins that the records contain in this order. */
function startWithin(arrivals: readonly Arrival[], records: readonly HistoryRecord[]): number {
  let from = arrivals.length;
  for (let index = records.length - 1; index >= 0 && from > 0; index--)
    if (mayBeOne(arrivals[from - 1] as Arrival, records[index])) from--;
  return from;
}
