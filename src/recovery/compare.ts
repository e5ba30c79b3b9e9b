import { apart, type HistoryAnswer, type HistoryRecord, type RecordId } from './answer';
import type { Arrival, Pair, Pairs } from './arrival';
import type { DeviceFacts } from './facts';
import { EMPTY, isLossy, type KnownWriting, type Writing, WRITINGS } from './writing';

/** What an answer shows, compared with what arrived. */
export interface Comparison {
  readonly pairs: Pairs;
  /** Places of the arrivals that have a record. */
  readonly found: ReadonlySet<number>;
  /** How many of the arrivals are older than all records of a short history (rule 10). */
  readonly gone: number;
  /** The place after the last sure arrival that has a record: what came after the request may be an equal, earlier one. */
  readonly end: number;
  /** Places of arrivals that must be in the answer, and are not, although a later one is. */
  readonly passed: readonly number[];
  /** The same, and no later one is there either. */
  readonly awaited: readonly number[];
  /** Records that are no arrival, but may be one in a writing that is not known, by its place (rule 7). */
  readonly spoilt: ReadonlyMap<HistoryRecord, number>;
}

export interface Compared {
  /** Its records are those after the position, by id, each id once. If some were left out, nothing counts as missing (rule 21). */
  readonly answer: HistoryAnswer;
  readonly arrivals: readonly Arrival[];
  /** How many of them, from the first on, must be there, but for what {@link Arrival.mustBeThere} leaves out. */
  readonly sure: number;
  /** How many arrived before the answer was requested; fewer than must be there if the history lags. */
  readonly requested: number;
  readonly device: DeviceFacts;
  /** The place from which on they arrived after the gap that the answer closes; Infinity if none did. */
  readonly afterGap: number;
  /** The answer has no record up to the position, which is this id. */
  readonly shortAfter: RecordId | undefined;
}

/** The order of rule 4, the known writing first. */
function orderOf(known: KnownWriting | undefined): Writing[] {
  const first = known === 'bare' ? ['trimmed' as const, 'tagged' as const] : known ? [known] : [];
  return [...new Set([...first, ...WRITINGS])];
}

const hashIn = ({ hashes }: HistoryRecord, writing: Writing): number | undefined =>
  writing === 'base64' ? hashes?.decoded : isLossy(writing) ? hashes?.bare : hashes?.whole;

/** Whether an arrival and a record are equal in some writing. */
const mayBeOne = ({ hashes }: Arrival, record: HistoryRecord | undefined): boolean =>
  record !== undefined && WRITINGS.some((writing) => hashIn(record, writing) === hashes[writing]);

/** Compares an answer with what arrived. It changes nothing. */
export function compare(compared: Compared): Comparison {
  const { answer, arrivals, sure, device, shortAfter } = compared;
  const gone = shortAfter === undefined ? 0 : goneOf(compared, shortAfter);
  const pairs = (gone === 0 && matchInOrder(compared)) || match(compared, gone);
  const found = new Set(Array.from(pairs.values(), ({ place }) => place));
  const end = endOf(answer.records, pairs, sure);
  const missing: number[] = [];
  for (let place = gone; place < sure && !answer.isCut; place++)
    if (!found.has(place) && arrivals[place]?.mustBeThere(device.facts.writing))
      missing.push(place);
  const passed = missing.filter((place) => place < end);
  const awaited = missing.filter((place) => place >= end);
  const isUnproven = pairs.size === 0 && missing.length >= UNPROVEN;
  const spoilt = isUnproven ? new Map() : spoiltOf(compared, pairs, missing, end);
  return { pairs, found, gone, end, passed, awaited, spoilt };
}

/** A record that comes before that of an earlier arrival may be an equal, earlier upload, and shows nothing. */
function endOf(records: readonly HistoryRecord[], pairs: Pairs, sure: number): number {
  let lowest = Infinity;
  for (let at = records.length - 1; at >= 0; at--) {
    const { place } = pairs.get(records[at] as HistoryRecord) ?? { place: Infinity };
    if (place < lowest && place < sure) return place + 1;
    lowest = Math.min(lowest, place);
  }
  return 0;
}

/**
 * Pairs arrivals and records one by one, as it is while nothing is missed: the rules give the same then.
 * @returns undefined unless each record is the arrival at its place
 */
function matchInOrder({ answer, arrivals, device, afterGap }: Compared): Pairs | undefined {
  const { records } = answer;
  if (afterGap < Infinity || records.length > arrivals.length) return undefined;
  const [writing] = orderOf(device.facts.writing) as [Writing];
  const pairs = new Map<HistoryRecord, Pair>();
  for (let place = 0; place < records.length; place++) {
    const [record, arrival] = [records[place] as HistoryRecord, arrivals[place] as Arrival];
    const isPlain = !(arrival.isDone || arrival.isDoubtful || arrival.isLoose);
    if (!isPlain || hashIn(record, writing) !== arrival.hashes[writing]) return undefined;
    pairs.set(record, { place, writing, isAmbiguous: false });
  }
  return pairs;
}

/** Pairs arrivals and records: rule 4. */
function match({ answer, arrivals, sure, device, afterGap }: Compared, gone: number): Pairs {
  const { records } = answer;
  const { writing: known, keepsCommas } = device.facts;
  const pairs = new Map<HistoryRecord, Pair>();
  let left = arrivals.flatMap(({ isDone }, place) => (isDone || place < gone ? [] : [place]));
  const isKnown = known !== undefined && known !== 'bare';
  let isSureFound = false;
  let isTagged = !keepsCommas || known === 'tagged';
  for (const writing of orderOf(known)) {
    if (left.length === 0 || pairs.size === records.length) break;
    let places = left;
    // Against what is known they are tried only if it shows nothing.
    const isOther = isKnown && isLossy(writing) && writing !== known;
    if (isOther || (writing === 'tagged' && !isTagged)) {
      if (isSureFound) break;
      places = left.filter((place) => place < sure);
    }
    const wanted = new Map<number, { places: number[]; records: HistoryRecord[] }>();
    for (const place of places) {
      const hash = (arrivals[place] as Arrival).hashes[writing];
      // An empty record shows no tag: one of white space would be empty, too.
      if (hash === EMPTY && writing === 'tagged' && known !== 'tagged' && place >= afterGap)
        continue;
      const equal = wanted.get(hash);
      if (equal) equal.places.push(place);
      else wanted.set(hash, { places: [place], records: [] });
    }
    for (const record of records) {
      const hash = pairs.has(record) ? undefined : hashIn(record, writing);
      if (hash !== undefined) wanted.get(hash)?.records.push(record);
    }
    const taken = new Set<number>();
    for (const equal of wanted.values()) {
      const isAmbiguous = equal.places.length !== equal.records.length;
      const chosen = likely(equal.places, equal.records.length, arrivals, sure);
      for (const [at, place] of chosen.entries()) {
        // What was missed comes before what arrived after the gap, and after all else.
        const missed = place < afterGap ? 0 : equal.records.length - chosen.length;
        pairs.set(equal.records[at + missed] as HistoryRecord, { place, writing, isAmbiguous });
        taken.add(place);
        isSureFound ||= place < sure;
        const { text, tagged } = (arrivals[place] as Arrival).hashes;
        if (writing === 'text' && known !== 'tagged') isTagged &&= text === tagged;
      }
    }
    if (taken.size > 0) left = left.filter((place) => !taken.has(place));
  }
  return pairs;
}

/**
 * Of equal arrivals, those that have records if there are fewer records: not what is in doubt, since it may have been
 * announced twice, nor what may lie before the position, nor the newest, which may not be in the answer yet.
 */
function likely(
  places: readonly number[],
  count: number,
  arrivals: readonly Arrival[],
  sure: number,
): readonly number[] {
  if (places.length <= count) return places;
  const rank = (place: number): number => {
    const { isDoubtful, isLoose } = arrivals[place] as Arrival;
    return isDoubtful ? 3 : place >= sure ? 2 : Number(isLoose);
  };
  const ordered = places.toSorted((one, other) => rank(one) - rank(other));
  return ordered.slice(0, count).sort((a, b) => a - b);
}

/** How many arrivals have left a short history: rule 10. */
function goneOf({ answer, arrivals, requested }: Compared, position: RecordId): number {
  const { records } = answer;
  const first = records[0];
  const last = records.at(-1);
  if (!first || !last) return 0;
  const isDense = apart(first.id, last.id) === records.length - 1;
  const between = apart(position, first.id) - 1;
  // Where ids have no gaps, those that arrived without one have the first ids after the position.
  let run = 0;
  while (isDense && run < between && arrivals[run]?.isAfterGap === false) run++;
  // If all between are of them, those that follow begin with the first record.
  let isClear = isDense && run === between;
  for (let at = 0; isClear && at < records.length; at++) {
    const arrival = arrivals[run + at];
    if (!arrival || arrival.isAfterGap || run + at >= requested) break;
    isClear = mayBeOne(arrival, records[at]);
  }
  if (isClear || run >= requested) return run;
  if (run === between) run = 0;
  const there = new Set(records.flatMap(({ everyHash }) => everyHash));
  const isThere = ({ hashes }: Arrival): boolean =>
    WRITINGS.some((writing) => there.has(hashes[writing]));
  const end = arrivals.slice(0, requested).findLastIndex(isThere);
  if (end < 0) return requested;
  let from = end + 1;
  for (let at = records.length - 1; at >= 0 && from > run; at--)
    if (mayBeOne(arrivals[from - 1] as Arrival, records[at])) from--;
  return from;
}

/** After this many arrivals that must be there and are not, an answer that has none proves nothing (rule 8). */
export const UNPROVEN = 3;

/**
 * Records that may be missing arrivals in a writing that is not known: rule 7. Such a record lies between those of the
 * arrivals before and after, and is of the arrival's time; of a history that is understood, only texts are looked for that
 * it may spoil, such as umlauts: others were never stored.
 */
function spoiltOf(
  { answer, arrivals, device }: Compared,
  pairs: Pairs,
  missing: readonly number[],
  end: number,
): Map<HistoryRecord, number> {
  const { records } = answer;
  const spoilt = new Map<HistoryRecord, number>();
  const left = new Set(
    missing.filter((place) => {
      // This answer is understood by its pairs, and may not have yet what came after them.
      const isUnderstood = device.isUnderstood || (pairs.size > 0 && place >= end);
      return arrivals[place]?.mayBeSpoilt === true || !isUnderstood;
    }),
  );
  if (left.size === 0) return spoilt;
  const after: number[] = [];
  let high = Infinity;
  for (let at = records.length - 1; at >= 0; at--) {
    after[at] = high;
    high = Math.min(high, pairs.get(records[at] as HistoryRecord)?.place ?? Infinity);
  }
  let low = -1;
  for (const [at, record] of records.entries()) {
    const pair = pairs.get(record);
    low = Math.max(low, pair?.place ?? -1);
    if (pair || record.body === undefined) continue;
    for (const place of left) {
      if (place <= low || place >= (after[at] ?? Infinity)) continue;
      if (!device.isAtTime(record, arrivals[place] as Arrival)) continue;
      spoilt.set(record, place);
      left.delete(place);
      break;
    }
  }
  return spoilt;
}
