import { isObject } from '../util/object';
import type { ServiceInteger, Upload } from '../types';
import { isLossy, isTrimmed, recordBytes, recordKey, REPLACEMENT, type HistoryForm } from './form';
import { timeOf, toUnix } from './zone';

/**
 * An id of a history: a number, or a bigint where a number would lose digits. Always the one or the other, so that ids can be
 * compared with any operator; numbers are several times as fast.
 */
export type RecordId = number | bigint;

/** The position before all records. */
export const BEFORE_ALL: RecordId = -1;

/** Longer ids are rejected: no counter gets so far, and all later uploads would be sorted before such a record. */
const MAX_DIGITS = 20;
const DIGITS = /^\d+$/;

/** Reads an id from the text of an integer. */
export function idFromText(digits: string): RecordId {
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : BigInt(digits);
}

/** An id of a history: a safe integer from 0, or up to 20 digits. @returns undefined for anything else */
function idOf(id: unknown): RecordId | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) && id >= 0 ? id : undefined;
  if (typeof id !== 'string' || id.length > MAX_DIGITS || !DIGITS.test(id)) return undefined;
  return idFromText(id);
}

/** Whether `dev` of a record (section 2.3) is the number of another device, in any notation. */
const isOfAnother = (dev: unknown, chipid: string): boolean =>
  dev !== chipid &&
  (typeof dev === 'string' || typeof dev === 'number') &&
  DIGITS.test(String(dev)) &&
  String(dev).replace(/^0+(?=\d)/, '') !== chipid;

/** How the records of one answer become uploads. */
export interface RecordOrigin {
  appid: string;
  chipid: string;
  /** Milliseconds that the history's times are ahead of UTC. */
  zone: number;
  /** Milliseconds since 1970, for records without a time. */
  now: number;
}

/**
 * Follows the order in which the records of a history come: no order is shown for the answers of endpoints 5 to 7
 * (section 4.2); the public server of 2016 gives the newest first.
 */
export class NewestFirst {
  #first: { time: string; id: RecordId } | undefined;
  #time = '';
  #id = BEFORE_ALL;
  #mayDescend = true;

  /** @param time as `timeOf` returns it */
  add(time: string, id: RecordId): void {
    if (!this.#first) this.#first = { time, id };
    // Within a second, any order is possible; without times, ids show it.
    else if (this.#mayDescend)
      this.#mayDescend = time !== '' && this.#time !== '' ? time <= this.#time : id < this.#id;
    this.#time = time;
    this.#id = id;
  }

  /** Whether the newest came first, as far as can be seen. */
  get isSeen(): boolean {
    const first = this.#first;
    if (!this.#mayDescend || !first) return false;
    return this.#time !== '' ? this.#time < first.time : this.#id < first.id;
  }
}

/** A record of a device's history of uploads (section 2.3). Nothing of it is decoded or hashed before it is needed. */
export class HistoryRecord {
  readonly #written: ServiceInteger;
  /** The keys that were needed so far: as text, without white space at both ends, as Base64. */
  #text: string | undefined;
  #trimmed: string | undefined;
  #base64: string | false | undefined;

  /**
   * @param written its id as the service writes it
   * @param body undefined if it cannot be read: the record may be any upload
   * @param time `create_time`, as the service writes it; empty without one
   */
  private constructor(
    readonly id: RecordId,
    written: ServiceInteger,
    readonly body: string | undefined,
    readonly time: string,
  ) {
    this.#written = written;
  }

  /**
   * Reads a record.
   * @param latest a later time is a wrong clock's, and is ignored
   * @returns its fault, as a text for the log, if it cannot be used
   */
  static read(item: unknown, chipid: string, latest: string): HistoryRecord | string {
    if (!isObject(item)) return 'it is not an object';
    const id = idOf(item['id']);
    if (id === undefined) return 'its id is not a number of at most 20 digits';
    if (isOfAnother(item['dev'], chipid)) return 'it belongs to another device';
    const { body } = item;
    const time = timeOf(item['create_time']);
    return new HistoryRecord(
      id,
      item['id'] as ServiceInteger,
      typeof body === 'string' ? body : undefined,
      time <= latest ? time : '',
    );
  }

  /** The key that an upload has in this form if it is this one; undefined if the body cannot be in this form. */
  key(form: HistoryForm): string | undefined {
    const { body } = this;
    if (body === undefined) return undefined;
    if (form === 'text') return (this.#text ??= recordKey(body, form));
    // One key does for both: most bodies have no white space at their ends.
    if (form !== 'base64')
      return (this.#trimmed ??= isTrimmed(body) ? this.key('text') : recordKey(body, form));
    this.#base64 ??= recordKey(body, form) ?? false;
    return this.#base64 === false ? undefined : this.#base64;
  }

  /** The upload that it is a record of, as far as the form keeps it. */
  upload(form: HistoryForm, { appid, chipid, zone, now }: RecordOrigin): Upload {
    const time = toUnix(this.time, zone);
    // Literally: V8 of Node.js 20 makes a hidden class for each object that is spread, which costs a microsecond.
    const upload: Upload = {
      chipid,
      appid,
      timestamp: Number.isNaN(time) ? now : time,
      body: recordBytes(this.body ?? '', form),
      replayed: true,
      id: this.#written,
    };
    if (isLossy(form) || this.body?.includes(REPLACEMENT)) upload.altered = true;
    return upload;
  }
}
