import { isObject } from '../util/object';
import { DeviceCloudError } from '../errors';
import {
  guessEncoding,
  isLossy,
  parseForm,
  recordBytes,
  type HistoryFacts,
  type HistoryForm,
  type HistoryFormSetting,
} from '../history/form';
import { BEFORE_ALL, idFromText, NewestFirst, type RecordId } from '../history/record';
import { parseZoneSetting, timeOf, toUnix, USUAL_ZONE, zoneOffset } from '../history/zone';
import { dropLeadingZeros } from '../input/chipid';
import { readInput } from '../input/values';
import type { ServiceInteger, Upload, UploadRecord } from '../types';
import { decodeBase64 } from '../util/base64';

/** How a history is read that no recovery has read. */
export interface HistoryOptions {
  /**
   * How the service writes `body` in history records. With `auto` (default) as uploads that came both ways
   * have shown it; until then it is guessed from the bodies.
   */
  encoding?: HistoryFormSetting | undefined;
  /** The time zone of the history's times, an offset such as `+08:00`, or `auto` (default). */
  zone?: string | undefined;
}

/** The options as they are used. */
export interface HistorySettings {
  encoding: HistoryFormSetting;
  /** Milliseconds ahead of UTC; undefined if that is learned. */
  zone: number | undefined;
}

/**
 * Reads the options.
 * @param usual what they are if they are left out
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export const readHistoryOptions = (
  options: HistoryOptions | undefined,
  usual: HistoryOptions = {},
): HistorySettings =>
  readInput('options object for the history', () => ({
    encoding: parseForm(options?.encoding ?? usual.encoding),
    zone: parseZoneSetting(options?.zone ?? usual.zone),
  }));

const NUMBER = /^\d{1,20}$/;
/** From how many bodies it is guessed how they are written. */
const SAMPLE = 100;
/** After how many records a history that begins with the newest is not read any further. */
const ENOUGH = 200;

/** A record with a body, unless it is of another device; whatever its id and its time are. */
function isUsable(record: unknown, chipid: string): record is UploadRecord {
  if (!isObject(record) || typeof record['body'] !== 'string') return false;
  const dev: unknown = record['dev'];
  const isNumber = (typeof dev === 'string' || typeof dev === 'number') && NUMBER.test(String(dev));
  return !isNumber || dropLeadingZeros(String(dev)) === chipid;
}

const numberOf = (id: unknown): RecordId | undefined =>
  NUMBER.test(String(id)) ? idFromText(String(id)) : undefined;

/** Whether a record has a higher id than another, as -1, 0 or 1; undefined if one of them is not a number. */
function compareIds(before: UploadRecord, after: UploadRecord): number | undefined {
  const [first, second] = [numberOf(before.id), numberOf(after.id)];
  if (first === undefined || second === undefined) return undefined;
  return first === second ? 0 : second > first ? 1 : -1;
}

const noBase64 = (chipid: string): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    `The newest record is not Base64. It is in the history of device ${chipid}. ` +
      'Set another encoding of the history in the application.',
  );

const idOf = (id: unknown): ServiceInteger | undefined =>
  typeof id === 'number' || typeof id === 'string' ? id : undefined;

/**
 * Finds the newest record of a history, of any length and in any order: by its time, since ids may start over; then by
 * its id; then by its place.
 */
export class NewestRecord {
  readonly #order = new NewestFirst();
  readonly #bodies: string[] = [];
  #count = 0;
  /** Of equally new records, the first and the last in the history. */
  #first: UploadRecord | undefined;
  #last: UploadRecord | undefined;

  readonly #chipid: string;

  constructor(chipid: string) {
    this.#chipid = chipid;
  }

  /** Looks at the next record. @returns false if no more are needed */
  take(record: unknown): boolean {
    this.#count++;
    if (!isUsable(record, this.#chipid)) return true;
    const time = timeOf(record.create_time);
    this.#order.add(time, numberOf(record.id) ?? BEFORE_ALL);
    if (this.#bodies.length < SAMPLE) this.#bodies.push(record.body);
    const newest = this.#last;
    const before = timeOf(newest?.create_time);
    const isSame = newest && time === before;
    const newer = isSame ? compareIds(newest, record) : !newest || time > before ? 1 : -1;
    if (newer === undefined || newer === 0) this.#last = record;
    else if (newer > 0) [this.#first, this.#last] = [record, record];
    return this.#count < ENOUGH || !this.#order.isSeen;
  }

  /**
   * The upload of the newest record; undefined if the history is empty.
   * @param now this clock, in ms: the time of a record without one
   * @throws DeviceCloudError `INVALID_RESPONSE` if it is not Base64 although that is set
   */
  upload(
    appid: string,
    facts: HistoryFacts,
    settings: HistorySettings,
    now: number,
  ): Upload | undefined {
    const chipid = this.#chipid;
    const newest = this.#order.isSeen ? this.#first : this.#last;
    if (!newest) return undefined;
    const setting = settings.encoding;
    const guess = (): HistoryForm => facts.form ?? guessEncoding(this.#bodies);
    const form = setting === 'auto' ? guess() : setting;
    if (setting === 'base64' && !decodeBase64(newest.body)) throw noBase64(chipid);
    const zone = settings.zone ?? facts.zone ?? zoneOffset(USUAL_ZONE);
    const time = toUnix(newest.create_time, zone);
    const upload: Upload = {
      ...{ chipid, appid, timestamp: Number.isNaN(time) ? now : time },
      body: recordBytes(newest.body, form),
    };
    const id = idOf(newest.id);
    if (id !== undefined) upload.id = id;
    if (isLossy(form)) upload.altered = true;
    return upload;
  }
}
