import {
  FORMS,
  isLossy,
  isText,
  mayBeEmpty,
  type BodyKeys,
  type HistoryForm,
} from '../history/form';
import type { HistoryRecord } from '../history/record';
import type { Arrival } from './arrivals';
import type { Since } from './ids';

const BIT: Readonly<Record<HistoryForm, number>> = { text: 1, trimmed: 2, tagged: 4, base64: 8 };

/**
 * In which forms the arrivals are found in a history. An arrival and a record are one upload if they are equal under
 * the form in which the history writes bodies.
 */
export class Evidence {
  readonly #wanted: Readonly<Record<HistoryForm, Map<string, number[]>>>;
  readonly #found: Uint8Array;

  constructor(private readonly arrived: readonly BodyKeys[]) {
    this.#found = new Uint8Array(arrived.length);
    this.#wanted = { text: new Map(), trimmed: new Map(), tagged: new Map(), base64: new Map() };
    for (const [index, keys] of arrived.entries())
      for (const form of FORMS) {
        const same = this.#wanted[form].get(keys[form]);
        if (same) same.push(index);
        else this.#wanted[form].set(keys[form], [index]);
      }
  }

  /** Looks at a record of the history. */
  see(record: HistoryRecord): void {
    for (const form of FORMS) {
      const key = record.key(form);
      if (key === undefined) continue;
      for (const index of this.#wanted[form].get(key) ?? [])
        this.#found[index] = (this.#found[index] ?? 0) | BIT[form];
    }
  }

  /** Whether an arrival has a record that is equal to it in this form. */
  isFound(index: number, form?: HistoryForm): boolean {
    const found = this.#found[index] ?? 0;
    return form ? (found & BIT[form]) !== 0 : found !== 0;
  }

  /** Whether a record would be an arrival in another form. @param counts whether that arrival and that form count */
  isInAnother(
    record: HistoryRecord,
    form: HistoryForm,
    counts: (index: number, other: HistoryForm) => boolean,
  ): boolean {
    if (this.arrived.length === 0) return false;
    const own = record.key(form);
    return FORMS.some((other) => {
      const key = record.key(other);
      const equal = key === undefined ? [] : (this.#wanted[other].get(key) ?? []);
      return equal.some((index) => this.arrived[index]?.[form] !== own && counts(index, other));
    });
  }

  /**
   * How many arrivals are found in each form: texts, or binary data if there is nothing else.
   * @param sure how many of the first arrivals must be in the history: only they show a form that loses something,
   *   since the record of another upload may be equal to what is left of one that is not in the history yet
   */
  scores(sure: number): Record<HistoryForm, number> {
    const count = (counts: (keys: BodyKeys) => boolean): Record<HistoryForm, number> => {
      const scores = { text: 0, trimmed: 0, tagged: 0, base64: 0 };
      for (const [index, keys] of this.arrived.entries())
        for (const form of counts(keys) ? FORMS : [])
          if (index < sure || !isLossy(form) || keys[form] === keys.text)
            scores[form] += Number(this.#shows(index, keys, form));
      return scores;
    };
    const texts = count(isText);
    return Object.values(texts).some((score) => score > 0) ? texts : count((keys) => !isText(keys));
  }

  /** Whether an arrival speaks for a form: not if it is found with what this form would have left out. */
  #shows(index: number, keys: BodyKeys, form: HistoryForm): boolean {
    if (!this.isFound(index, form)) return false;
    const isWhole = (other: HistoryForm): boolean =>
      keys[other] !== keys[form] && this.isFound(index, other);
    return !isLossy(form) || !(isWhole('text') || (form === 'tagged' && isWhole('trimmed')));
  }

  /**
   * Whether an arrival must have a record, and has none in any form. An upload that may leave nothing in some form
   * counts neither way: the history may have no record of it.
   */
  isMissing(index: number): boolean {
    const keys = this.arrived[index];
    return keys !== undefined && !mayBeEmpty(keys) && !this.isFound(index);
  }
}

/** The form in which an answer is read. */
interface ChosenForm {
  form: HistoryForm;
  /** Other forms for which as much speaks. */
  rivals: readonly HistoryForm[];
}

/**
 * Chooses the form of an answer: the one in which most arrivals are found. If several forms are equal in that, it is
 * the known one, or text.
 * @param sure how many of the first arrivals must be in the history
 * @param known what has been learned or set; undefined while nothing is known
 */
function chooseForm(evidence: Evidence, sure: number, known: HistoryForm | undefined): ChosenForm {
  const scores = evidence.scores(sure);
  const first = known ?? 'text';
  let form = first;
  for (const other of FORMS) if (scores[other] > scores[form]) form = other;
  const isRival = (other: HistoryForm): boolean => other !== form && scores[other] === scores[form];
  return { form, rivals: form === known ? [] : FORMS.filter(isRival) };
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
 * Leaves out the records that an earlier run has emitted: as many as it counted, up to the one that is equal to the last
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

/** How many records are compared at once: the event loop must not be blocked. */
export const PART = 2000;

/** What a reading has shown, compared with what arrived. */
export class Reconciliation {
  /** The form in which the answer is read. */
  readonly form: HistoryForm;
  /**
   * The arrivals that must be in the history, oldest first, and whether it has them in any form. Uploads that it may have
   * nothing of count only if they are there.
   */
  readonly findings: readonly { arrival: Arrival; isFound: boolean }[];
  /** Arrivals that have left a short history: they are older than all of its records. */
  readonly gone: readonly Arrival[];
  /** The records after those that an earlier run has emitted. */
  readonly records: readonly HistoryRecord[];
  readonly #evidence: Evidence;
  readonly #rivals: readonly HistoryForm[];
  readonly #indices = new Map<Arrival, number>();
  /** How many arrivals, from the first on, must be in the history. */
  readonly #sure: number;
  /** Whether all records that are left over may be arrivals that were not found. */
  readonly #mayBeMissing: boolean;
  #left: Arrival[];

  /**
   * @param since the records after the position; `evidence` has seen them
   * @param arrivals those that `evidence` was made for, `sure` first
   */
  constructor(
    { fresh, isTruncated }: Since,
    emitted: Emitted,
    { sure, open }: { sure: readonly Arrival[]; open: readonly Arrival[] },
    evidence: Evidence,
    known: HistoryForm | undefined,
  ) {
    const earlier = emitted.last ? 1 : 0;
    const { form, rivals } = chooseForm(evidence, earlier + sure.length, known);
    for (const [index, arrival] of [...sure, ...open].entries())
      this.#indices.set(arrival, index + earlier);
    this.form = form;
    this.#sure = earlier + sure.length;
    this.#rivals = rivals;
    this.#evidence = evidence;
    this.records = afterEmitted(fresh, emitted, form, isTruncated);
    // An arrival that has left a short history must not match an equal record that is still in it.
    const all = [...sure, ...open];
    const last = all.findLastIndex((arrival) => this.#isFound(arrival)) + 1;
    const compared = all.slice(0, Math.max(last, sure.length));
    this.gone = isTruncated ? compared.slice(0, startWithin(compared, this.records)) : [];
    this.#left = all.slice(this.gone.length);
    // A record that cannot be read may be any upload.
    const unreadable = this.records.filter(({ body }) => body === undefined).length;
    this.findings = sure.slice(this.gone.length).flatMap((arrival) => {
      if (this.#isFound(arrival)) return { arrival, isFound: true };
      return unreadable === 0 && this.#isMissing(arrival) ? { arrival, isFound: false } : [];
    });
    // As few records as there are arrivals without one: they may be these arrivals in a form that is not known.
    const found = all.filter((arrival) => this.#isFound(arrival)).length;
    const missing = sure
      .slice(this.gone.length)
      .filter((arrival) => this.#isMissing(arrival)).length;
    this.#mayBeMissing = missing > 0 && this.records.length - found <= missing;
  }

  /**
   * Finds out which records are arrivals, and which were missed, part by part. Equal ones are counted: as many records
   * are left over as were missed, whichever of them they are.
   */
  *parts(): Generator<Part> {
    for (let from = 0; from < this.records.length; from += PART) {
      const records = this.records.slice(from, from + PART);
      const part = this.#match(records);
      this.#left = this.#left.filter((arrival) => !part.found.has(arrival));
      yield part;
    }
  }

  #match(records: readonly HistoryRecord[]): Part {
    const found = new Map<Arrival, HistoryRecord>();
    const of = new Map<HistoryRecord, Arrival>();
    const pair = (form: HistoryForm, candidates: readonly Arrival[]): void => {
      const pool = byKey(candidates, form, found);
      for (const record of pool.size === 0 ? [] : records) {
        const key = of.has(record) ? undefined : record.key(form);
        const arrival = key === undefined ? undefined : pool.get(key)?.shift();
        if (!arrival) continue;
        found.set(arrival, record);
        of.set(record, arrival);
      }
    };
    pair(this.form, this.#left);
    // Bodies may be written in several forms: binary data in Base64 among texts, or all in another one from now on.
    const others = this.#left.filter(
      (arrival) => this.#isFound(arrival) && !this.#isFound(arrival, this.form),
    );
    const sure = others.filter((arrival) => this.#isSure(arrival));
    for (const form of others.length === 0 ? [] : FORMS) pair(form, isLossy(form) ? sure : others);
    const unmatched = new Set(
      this.#left.flatMap((arrival) =>
        found.has(arrival) ? [] : (this.#indices.get(arrival) ?? []),
      ),
    );
    const counts = (index: number, other: HistoryForm): boolean =>
      unmatched.has(index) || this.#rivals.includes(other);

    const order: (HistoryRecord | Arrival)[] = [];
    const doubtful = new Set<HistoryRecord>();
    const mayBeUnfound = this.#doubts(records, of);
    for (const [place, record] of records.entries()) {
      const arrival = of.get(record);
      if (arrival) order.push(arrival);
      else if (record.body !== undefined) {
        order.push(record);
        const isOther = this.#evidence.isInAnother(record, this.form, counts);
        if (isOther || this.#mayBeMissing || mayBeUnfound(place)) doubtful.add(record);
      }
    }
    return { records, order, found, doubtful };
  }

  #isMissing(arrival: Arrival): boolean {
    return this.#evidence.isMissing(this.#indices.get(arrival) ?? -1);
  }

  #isSure(arrival: Arrival): boolean {
    return (this.#indices.get(arrival) ?? -1) < this.#sure;
  }

  #isFound(arrival: Arrival, form?: HistoryForm): boolean {
    return this.#evidence.isFound(this.#indices.get(arrival) ?? -1, form);
  }

  /**
   * Tells for a place in the records whether the record there may be an arrival that was not found in any form: it lies
   * between two records that were found, and so does such an arrival.
   */
  #doubts(
    records: readonly HistoryRecord[],
    of: ReadonlyMap<HistoryRecord, Arrival>,
  ): (place: number) => boolean {
    const unfound = this.#left
      .filter((arrival) => !mayBeEmpty(arrival.keys) && !this.#isFound(arrival))
      .map((arrival) => this.#indices.get(arrival) ?? -1);
    if (unfound.length === 0 || of.size === 0) return () => false;
    const places = records.map((record) => {
      const arrival = of.get(record);
      return arrival && this.#indices.get(arrival);
    });
    const before: number[] = [];
    let last = -1;
    for (const index of places) {
      before.push(last);
      last = index ?? last;
    }
    const after: number[] = [];
    last = -1;
    for (const index of places.toReversed()) {
      after.push(last);
      last = index ?? last;
    }
    return (place) => {
      const [low, high] = [before[place] ?? -1, after[places.length - 1 - place] ?? -1];
      return unfound.some((index) => index > low && index < high);
    };
  }
}

function byKey(
  arrivals: readonly Arrival[],
  form: HistoryForm,
  found: ReadonlyMap<Arrival, HistoryRecord>,
): Map<string, Arrival[]> {
  const groups = new Map<string, Arrival[]>();
  for (const arrival of arrivals) {
    if (found.has(arrival)) continue;
    const same = groups.get(arrival.keys[form]);
    if (same) same.push(arrival);
    else groups.set(arrival.keys[form], [arrival]);
  }
  return groups;
}

/** Where the longest end of the arrivals begins that the records contain in this order. */
function startWithin(arrivals: readonly Arrival[], records: readonly HistoryRecord[]): number {
  let from = arrivals.length;
  for (let index = records.length - 1; index >= 0 && from > 0; index--)
    if (mayBeOne(arrivals[from - 1] as Arrival, records[index])) from--;
  return from;
}
