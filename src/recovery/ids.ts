import { isUtf8 } from 'node:buffer';
import { bareBody } from '../history/form';
import { idFromText, type HistoryRecord, type RecordId } from '../history/record';
import { QUARTER, toUnix, WIDEST } from '../history/zone';
import { decodeBase64 } from '../util/base64';
import { fnv1a } from '../util/fnv1a';
import { isObject } from '../util/object';

/** What is remembered of a history, to recognise its records if its ids start over. */
export interface Edge {
  /** The latest `create_time` among its records, as the service writes it. */
  time: string;
  /**
   * Some of its records, newest first, with a space between them. Of each one, how far its id is below that of the one
   * before, unless it is 1, then its mark. The first one has its id.
   */
  seen: string;
  /** Seconds after `time`: later times were ignored, as a wrong clock's. */
  until: number;
}

/** How many of the newest records are remembered. */
const NEWEST = 3;
/** How many records of the latest second are remembered. Their times do not show whether there is another. */
const LATEST = 8;
/** Characters of the hash of a body, and of a time: 25 bits, and 15. */
const DIGITS = { body: 5, time: 3 };
const MARK = DIGITS.body + DIGITS.time;
const SEEN = /^\d{0,20}[\da-z]{8}$/;

/** A fast hash: there may be very many records. */
const hash = (text: string, digits: number): string =>
  fnv1a(text).toString(36).padStart(digits, '0').slice(-digits);

const bodyHash = (body: string): string => hash(body, DIGITS.body);
const timeHash = (time: string): string => hash(time, DIGITS.time);
const NO_TIME = timeHash('');
/** A body as far as all forms keep it. */
function coreOf(body: string): string {
  const bytes = decodeBase64(body);
  return bareBody(bytes && isUtf8(bytes) ? bytes.toString('utf8') : body);
}

/** A hash of a record's body, the same in each form, then one of its time. */
const markOf = ({ body, time }: HistoryRecord): string =>
  bodyHash(body === undefined ? '' : coreOf(body)) + timeHash(time);
const bodyOf = (mark: string): string => mark.slice(0, DIGITS.body);
const secondOf = (mark: string): string => mark.slice(DIGITS.body);

const latestTime = (records: readonly HistoryRecord[], known = ''): string =>
  records.reduce((latest, { time }) => (time > latest ? time : latest), known);

/**
 * The edge of an answer.
 * @param records by id, oldest first
 * @param until later times are ignored
 * @param known the latest time of other records
 */
export function edgeOf(records: readonly HistoryRecord[], until: string, known = ''): Edge {
  const time = latestTime(records, known);
  const ofLatest = records.filter((record) => record.time === time).slice(-LATEST);
  // The oldest one shows that ids have begun at the same number again.
  const chosen = new Set([...records.slice(0, 1), ...records.slice(-NEWEST), ...ofLatest]);
  const seen = [...chosen]
    .filter(({ body }) => body !== undefined)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .map((record, index, all) => distance(all[index - 1]?.id, record.id) + markOf(record))
    .join(' ');
  return { time, seen, until: time === '' ? 0 : secondsBetween(time, until) };
}

/** An id, as how far it is below another one. */
function distance(above: RecordId | undefined, id: RecordId): string {
  if (above === undefined) return String(id);
  const far = BigInt(above) - BigInt(id);
  return far === 1n ? '' : String(far);
}

const secondsBetween = (from: string, to: string): number =>
  Math.round((toUnix(to, 0) - toUnix(from, 0)) / 1000);

/** The records of an edge, newest first: their marks by id. */
function readSeen(seen: string): Map<RecordId, string> {
  const marks = new Map<RecordId, string>();
  let above: bigint | undefined;
  for (const each of seen === '' ? [] : seen.split(' ')) {
    const number = each.slice(0, -MARK);
    above = above === undefined ? BigInt(number) : above - BigInt(number || 1);
    marks.set(idFromText(String(above)), each.slice(-MARK));
  }
  return marks;
}

/** Whether a value is an edge: it may have been saved by an older version, or be anything. */
export const isEdge = (value: unknown): value is Edge =>
  isObject(value) &&
  typeof value['time'] === 'string' &&
  Number.isSafeInteger(value['until']) &&
  typeof value['seen'] === 'string' &&
  /^(\d|$)/.test(value['seen']) &&
  (value['seen'] === '' || value['seen'].split(' ').every((each) => SEEN.test(each)));

/** The records after the position, and whether they may be incomplete. */
export interface Since {
  /** By id, oldest first. */
  fresh: HistoryRecord[];
  /** The history no longer reaches back to the position: what was between them is unknown. */
  isTruncated: boolean;
  /** The ids of the history do not continue from the position: it was restored, or started over. */
  isRestored: boolean;
  /** Of a history that has nothing new, and whose newest id is below the position: how many records may be new. */
  behind?: number;
}

/** Compares the records of an answer with the edge of an earlier one. */
export class EdgeMemory {
  /** Of the records that are remembered, their marks by id. */
  readonly seen: ReadonlyMap<RecordId, string>;
  readonly #edge: Edge;

  constructor(edge: Edge) {
    this.#edge = edge;
    this.seen = readSeen(edge.seen);
  }

  /** Whether a record up to the position may be a new one under a used id, or shows that others are. */
  concerns({ id, time }: HistoryRecord): boolean {
    return time >= this.#edge.time || this.seen.has(id);
  }

  /** The records that are new although their ids are not above the position. @param records by id, oldest first */
  again(records: readonly HistoryRecord[], position: RecordId): Set<HistoryRecord> {
    const old = records.filter(({ id }) => id <= position);
    const reused = old.find((record) => this.#isReused(record));
    const isTimed = this.#edge.time !== '' && !this.#isInOtherZone(old);
    const missing = this.#missing(old);
    const [newest] = this.seen;
    const isContinued = old.some(
      (record) => record.id === newest?.[0] && bodyOf(markOf(record)) === bodyOf(newest[1]),
    );
    const again = old.filter(
      (record) =>
        (reused && record.id >= reused.id) ||
        (isTimed && this.#isLater(record, isContinued)) ||
        this.#isNewInLatestSecond(record, missing),
    );
    return new Set(again);
  }

  /** The records that are new in a history whose ids are all below the position, and how many may be. */
  setBack(records: readonly HistoryRecord[]): { fresh: HistoryRecord[]; unknown: number } {
    const missing = this.#missing(records);
    const verdicts = records.map((record) => this.#verdictOn(record, missing));
    const reused = verdicts.indexOf('reused');
    const fresh = records.filter((_, index) => {
      const verdict = verdicts[index];
      return verdict === 'unknown' ? reused >= 0 && index > reused : verdict !== 'seen';
    });
    // An older copy has nothing new before a record that was seen.
    return { fresh, unknown: records.length - 1 - verdicts.lastIndexOf('seen') };
  }

  /**
   * Whether a record was made after the earlier answer. While the newest one that is remembered is still there, ids may
   * simply continue: then a record whose time was ignored may have been there already.
   */
  #isLater({ time }: HistoryRecord, isContinued: boolean): boolean {
    const { time: latest, until } = this.#edge;
    return time > latest && (!isContinued || secondsBetween(latest, time) <= until);
  }

  /** What is known about a record of a history whose ids are all lower than before. */
  #verdictOn(record: HistoryRecord, missing: string[]): 'seen' | 'new' | 'reused' | 'unknown' {
    if (record.body === undefined) return 'unknown';
    const { time } = this.#edge;
    if (time !== '' && record.time > time) return 'new';
    const [seen, mark] = [this.seen.get(record.id), markOf(record)];
    if (seen !== undefined && bodyOf(seen) !== bodyOf(mark)) return 'reused';
    if (seen !== undefined) return seen === mark ? 'seen' : 'unknown';
    if (takeFrom(missing, mark)) return 'seen';
    const isLatest = record.time === time || record.time === '' || time === '';
    return isLatest && this.#isWhole() ? 'new' : 'unknown';
  }

  /** Marks of remembered records that the answer does not have under their ids, but perhaps under others. */
  #missing(records: readonly HistoryRecord[]): string[] {
    const present = new Map(records.map((record) => [record.id, record]));
    return [...this.seen]
      .filter(([id, mark]) => {
        const record = present.get(id);
        return !record || markOf(record) !== mark;
      })
      .map(([, mark]) => mark);
  }

  /** Whether all records of the latest second are remembered. */
  #isWhole(): boolean {
    const latest = timeHash(this.#edge.time);
    return [...this.seen.values()].filter((mark) => secondOf(mark) === latest).length < LATEST;
  }

  /** Whether its id used to be another record's. A body may also differ since bodies are written in another form now. */
  #isReused(record: HistoryRecord): boolean {
    const seen = this.seen.get(record.id);
    if (seen === undefined || record.body === undefined) return false;
    const mark = markOf(record);
    if (bodyOf(seen) === bodyOf(mark)) return false;
    const [before, now] = [secondOf(seen), secondOf(mark)];
    if (before !== now) return before !== NO_TIME && now !== NO_TIME;
    return record.time === this.#edge.time && !isRewritten(record.body, bodyOf(seen));
  }

  #isNewInLatestSecond(record: HistoryRecord, missing: string[]): boolean {
    if (record.time !== this.#edge.time || record.body === undefined || !this.#isWhole())
      return false;
    return !this.seen.has(record.id) && !takeFrom(missing, markOf(record));
  }

  /**
   * Whether the service writes times in another zone than before, even those of old records. Then they do not show
   * which records are later.
   */
  #isInOtherZone(old: readonly HistoryRecord[]): boolean {
    const known = old.filter(({ id }) => this.seen.has(id));
    const moved = toUnix(latestTime(known), 0) - toUnix(this.#edge.time, 0);
    if (!(moved !== 0 && moved % QUARTER === 0 && Math.abs(moved) <= 2 * WIDEST)) return false;
    return known.every((record) => {
      const [seen = '', mark] = [this.seen.get(record.id), markOf(record)];
      return bodyOf(mark) === bodyOf(seen) && mark !== seen;
    });
  }
}

function takeFrom(marks: string[], mark: string): boolean {
  const at = marks.indexOf(mark);
  if (at >= 0) marks.splice(at, 1);
  return at >= 0;
}

/** Whether a body was seen as another form has it, or by an earlier version. @param seen a hash of its text */
const isRewritten = (body: string, seen: string): boolean =>
  [
    body,
    Buffer.from(body, 'base64').toString('utf8'),
    Buffer.from(body, 'utf8').toString('base64'),
  ].some((text) => bodyHash(bareBody(text)) === seen);

/** A range of ids of which the history has nothing any longer. */
export interface Lost {
  after: RecordId;
  before: RecordId;
}

/**
 * Finds what a history that no longer reaches back to the position has lost, as far as its ids show. They may be counted
 * across an application: then not every missing number is an upload of this device.
 * @param position the newest id that was known, -1 if the history was empty
 * @param arrived how many uploads arrived that the history no longer has
 */
export function lostBefore(since: Since, position: RecordId, arrived: number): Lost | undefined {
  const { fresh, isTruncated, isRestored } = since;
  const first = fresh[0]?.id;
  if (first === undefined || isRestored) return undefined;
  // Of a history that was empty, nothing is known: ids may be counted across applications.
  if (!isTruncated || position < 0) return undefined;
  return BigInt(first) - BigInt(position) - 1n > BigInt(arrived)
    ? { after: position, before: first }
    : undefined;
}
