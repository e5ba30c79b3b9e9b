import { isObject } from '../util/json';
import { KNOWN_WRITINGS, type KnownWriting, type Learned } from './writing';
import { toUnix, USUAL_OFFSET, WIDEST, zoneOf } from './zone';

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
   * @param live Unix time in milliseconds @param time `create_time`
   */
  sawTime(chipid: string, live: number, time: string): void {
    const likely = this.likelyZone;
    const recorded = toUnix(time, likely);
    if (!(live > 0) || Number.isNaN(recorded)) return;
    const zone = zoneOf(live, recorded, likely);
    if (zone === undefined) return;
    if (this.#devices.size < 2) this.#devices.add(chipid);
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
