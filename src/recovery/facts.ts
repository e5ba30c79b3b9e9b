import { isUtf8 } from 'node:buffer';
import type { Upload } from '../types';
import { decodeBase64 } from '../util/decode';
import { isObject } from '../util/json';
import type { HistoryAnswer, HistoryRecord, Shown } from './answer';
import type { Arrival, Pair, Pairs } from './arrival';
import type { Budgets, LIMITS } from './limits';
import type { Position } from './position';
import { writes } from './reports';
import {
  type Hashes,
  isLossy,
  KNOWN_WRITINGS,
  type KnownWriting,
  type RecordHashes,
  REPLACEMENT,
  SAMPLE,
  seemsBase64,
  type Writing,
} from './writing';
import { USUAL_OFFSET, WIDEST, zoneOf } from './zone';

/** What is kept of an application's histories. */
export interface Learned {
  writing?: KnownWriting;
  keepsCommas?: boolean;
  /** Milliseconds ahead of UTC. */
  zone?: number;
}

/** How many uploads that came both ways have to agree before a zone is believed: a device's clock may be wrong. */
const AGREEING = 3;
/** How many of the latest are remembered. */
const REMEMBERED = 9;

/** Whether a value is what was learned: it may be anything. */
export const isLearned = (value: unknown): value is Learned =>
  isObject(value) &&
  (value['writing'] === undefined || KNOWN_WRITINGS.some((known) => known === value['writing'])) &&
  (value['keepsCommas'] === undefined || typeof value['keepsCommas'] === 'boolean') &&
  (value['zone'] === undefined ||
    (Number.isSafeInteger(value['zone']) && Math.abs(Number(value['zone'])) <= WIDEST));

/** What uploads that came both ways have shown of the histories of an application: all its devices share it. */
export class HistoryFacts {
  /** An upload has come both ways, in a writing that is known. */
  isUnderstood = false;
  /** A text was in a history in no writing that is known. */
  isSpoiling = false;
  /** The service is seen to be the public server of 2016. */
  isPublic = false;
  #learned: Learned = {};
  readonly #zones: { zone: number; chipid: string }[] = [];
  /** Two devices, or the only one so far. */
  readonly #devices = new Set<string>();
  readonly #reported = new Set<string>();
  readonly #onLearned: (learned: Learned) => void;

  /** @param onLearned is called with all that is to be kept */
  constructor(onLearned: (learned: Learned) => void = () => undefined) {
    this.#onLearned = onLearned;
  }

  get learned(): Learned {
    return this.#learned;
  }

  /** How bodies are written (rule 17). */
  get writing(): KnownWriting | undefined {
    return this.#learned.writing;
  }

  /** A text with a comma was in a history as it was: it is not `tagged`. */
  get keepsCommas(): boolean {
    return this.#learned.keepsCommas === true;
  }

  /** The time zone of `create_time`, in milliseconds ahead of UTC; undefined until it is learned. */
  get zone(): number | undefined {
    return this.#learned.zone;
  }

  /** The same; until it is learned, most likely UTC for the public server of 2016, and Beijing time for others. */
  get likelyZone(): number {
    return this.zone ?? (this.isPublic || this.writing === 'tagged' ? 0 : USUAL_OFFSET);
  }

  learn(learned: Learned): void {
    const keys = Object.keys(learned) as (keyof Learned)[];
    if (keys.every((key) => learned[key] === this.#learned[key])) return;
    this.#learned = { ...this.#learned, ...learned };
    this.#onLearned(this.#learned);
  }

  /** Takes over what an earlier run has learned, unless this one has learned it by itself. */
  restore({ writing, keepsCommas, zone }: Learned): void {
    if (zone !== undefined && this.zone === undefined) this.learn({ zone });
    if (this.writing !== undefined || writing === undefined) return;
    this.isUnderstood = true;
    this.learn({ writing, ...(keepsCommas && { keepsCommas }) });
  }

  /**
   * An upload came both ways. A zone is believed once three agree, of two devices where there are two.
   * @param live Unix time in milliseconds @param time of its record, if that is of UTC
   */
  sawTime(chipid: string, live: number, time: number): void {
    if (!(live > 0)) return;
    const zone = zoneOf(live, time);
    if (zone === undefined) return;
    if (this.#devices.size < 2) this.#devices.add(chipid);
    // One that agrees with it outweighs all that did not, as those of a device whose clock is wrong.
    if (zone === this.zone) {
      this.#zones.length = 0;
      return;
    }
    this.#zones.push({ zone, chipid });
    if (this.#zones.length > REMEMBERED) this.#zones.shift();
    const same = this.#zones.filter((each) => each.zone === zone);
    const devices = new Set(same.map((each) => each.chipid)).size;
    if (same.length >= AGREEING && devices >= this.#devices.size) this.learn({ zone });
  }

  /** Whether a text has not been reported yet: what concerns the application is reported only once. */
  isNews(text: string): boolean {
    if (this.#reported.has(text)) return false;
    this.#reported.add(text);
    return true;
  }
}

/**
 * What a text that came both ways shows of the writing: something if the others would have written it in another way. Binary
 * data may be in Base64 anywhere.
 * @param writing in which the two are equal
 */
function shownBy(
  { text, base64, trimmed, tagged }: Hashes,
  record: RecordHashes | undefined,
  writing: Writing,
  { writing: known, keepsCommas }: Learned,
): Learned {
  if (record?.whole === text) {
    if (trimmed !== text) return { writing: 'text' };
    if (tagged === text) return {};
    const isTagged = known === 'bare' || known === 'tagged';
    return { keepsCommas: true, ...(isTagged && { writing: 'trimmed' }) };
  }
  if (record?.decoded === base64) return { writing: 'base64' };
  if (trimmed !== tagged) return { writing, ...(writing === 'tagged' && { keepsCommas: false }) };
  return isLossy(known) ? {} : { writing: keepsCommas ? 'trimmed' : 'bare' };
}

/** By how much times of an arrival and its record may differ from those of others of the device, in ms (rule 7). */
const SAME_TIME = 5000;
/** More than zones and clocks differ by, in milliseconds. */
const DAY = 24 * 60 * 60 * 1000;

/** Of what recovers one device for one listener, without input or output. */
export interface DeviceOptions {
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

/** What is known of the history of one device, and how an upload is made of a record of it: rules 17 to 19. */
export class DeviceFacts {
  /** Never changed in place: a position that is made later has it as it was. */
  shown: Readonly<Shown> = {
    seen: [],
    measure: undefined,
    afterTime: undefined,
    isPlain: false,
    isMixed: false,
    isUnordered: false,
    isLagging: false,
  };
  /** The difference between the times of a record and its arrival, of the latest pair. */
  #skew: number | undefined;
  readonly #options: DeviceOptions;
  /** What is known of all histories of the application. */
  readonly facts: HistoryFacts;

  constructor(options: DeviceOptions) {
    this.#options = options;
    this.facts = options.facts;
  }

  /** An upload has come both ways: only texts that a history may spoil are in a writing that is not known. */
  get isUnderstood(): boolean {
    return this.facts.isUnderstood || this.shown.isPlain;
  }

  show(change: Partial<Shown>): void {
    this.shown = { ...this.shown, ...change };
  }

  /** Uploads came both ways. */
  learn(records: readonly HistoryRecord[], arrivals: readonly Arrival[], pairs: Pairs): void {
    for (const record of records) {
      const pair = pairs.get(record);
      const arrival = pair && arrivals[pair.place];
      if (!arrival) continue;
      this.#learnOf(arrival, record, pair);
      if (arrival.isLate && !this.shown.isLagging) this.show({ isLagging: true });
    }
  }

  #learnOf(arrival: Arrival, record: HistoryRecord, { writing, isAmbiguous }: Pair): void {
    const facts = this.facts;
    facts.isUnderstood = true;
    if (!isAmbiguous) this.#learnTime(record, arrival.timestamp);
    const before = facts.writing;
    const { isPlain, isMixed } = this.shown;
    if (!arrival.isText) {
      if (writing === 'base64' && before !== 'base64' && !isMixed) this.show({ isMixed: true });
      return;
    }
    const isWhole = record.hashes?.whole === arrival.hashes.text;
    if (isPlain !== isWhole) this.show({ isPlain: isWhole });
    facts.learn(shownBy(arrival.hashes, record.hashes, writing, facts.learned));
    const now = facts.writing;
    if (now && now !== before && now !== 'text' && facts.isNews(now))
      this.#options.log(...writes(now, arrival, record));
  }

  #learnTime(record: HistoryRecord, timestamp: number): void {
    const skew = record.time - timestamp;
    if (Number.isNaN(skew)) return;
    this.#skew = skew;
    this.facts.sawTime(this.#options.chipid, timestamp, record.time);
  }

  /** Whether a record was made when an arrival was, as far as can be told: rule 7. */
  isAtTime(record: HistoryRecord, arrival: Arrival): boolean {
    const skew = record.time - arrival.timestamp;
    return Number.isNaN(skew) || Math.abs((this.#skew ?? skew) - skew) <= SAME_TIME;
  }

  /** Milliseconds that the history's times are ahead of UTC, as far as that is known. */
  get #zone(): number {
    return this.#options.zone ?? this.facts.likelyZone;
  }

  /** The latest time that is remembered, but for that of a wrong clock; 0 without one. */
  get latestTime(): number {
    const until = this.#options.now() + DAY + this.#zone;
    return Math.max(0, ...this.shown.seen.map(([, time]) => time).filter((time) => time <= until));
  }

  /** @returns what makes uploads of records of an answer, by all that is known now: rules 18 and 19 */
  restorer({ sample, records }: HistoryAnswer): (record: HistoryRecord, text: string) => Upload {
    const { writing: known, isSpoiling } = this.facts;
    const { isMixed } = this.shown;
    const isOpen = known === undefined && !this.shown.isPlain;
    const isGuessed =
      isOpen && seemsBase64([...sample, ...records.slice(-SAMPLE).map(({ body }) => body)]);
    const isBase64 = known === 'base64' || isGuessed;
    const isPlain = this.shown.isPlain && !isSpoiling;
    const isWhole = known === 'text' || (known === undefined && isPlain);
    const { chipid, appid } = this.#options;
    const zone = this.#zone;
    return ({ written, time }, text) => {
      const bytes = isBase64 || isMixed ? decodeBase64(text) : undefined;
      const isDecoded = bytes !== undefined && (isBase64 || !isUtf8(bytes));
      const isAltered = isDecoded
        ? known !== 'base64' || isPlain
        : !isWhole || bytes !== undefined || text.includes(REPLACEMENT);
      const timestamp = Number.isNaN(time) ? this.#options.now() : time - zone;
      const body = isDecoded ? bytes : Buffer.from(text, 'utf8');
      // A field that is added later takes V8 twice the memory.
      return isAltered
        ? { chipid, appid, timestamp, body, replayed: true, id: written, altered: true }
        : { chipid, appid, timestamp, body, replayed: true, id: written };
    };
  }
}
