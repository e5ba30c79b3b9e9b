import { timeOf, toUnix } from './zone';
import { chipidOf } from '../input/values';
import type { ServiceInteger } from '../types';
import { isObject } from '../util/json';
import { recordHashes, type RecordHashes } from './writing';

/**
 * An id of a history: a number, or a bigint where a number would lose digits. Always the one or the other, so that ids
 * can be compared with any operator; numbers are several times as fast.
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

/** @returns undefined unless it is a safe integer from 0, or up to 20 digits */
function idOf(id: unknown): RecordId | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) && id >= 0 ? id : undefined;
  if (typeof id !== 'string' || id.length > MAX_DIGITS || !DIGITS.test(id)) return undefined;
  return idFromText(id);
}

/** Whether `dev` of a record (section 2.3) is the number of another device, in any notation. */
const isOfAnother = (dev: unknown, chipid: string): boolean =>
  dev !== chipid && (chipidOf(dev) ?? chipid) !== chipid;

/** A record of a device's history of uploads (section 2.3). It is hashed only if there is something to compare it with. */
export class HistoryRecord {
  #hashes: RecordHashes | undefined;

  /**
   * @param written its id as the service writes it
   * @param body undefined if it cannot be read: the record may be any upload
   * @param time `create_time`, as the service writes it; empty without one
   */
  constructor(
    readonly id: RecordId,
    readonly written: ServiceInteger,
    readonly body: string | undefined,
    readonly time: string,
  ) {}

  /** Reads a record. @returns its fault, as a text for the log, if it cannot be used */
  static read(item: unknown, chipid: string): HistoryRecord | string {
    if (!isObject(item)) return 'it is not an object';
    const id = idOf(item['id']);
    if (id === undefined) return 'its id is not a number of at most 20 digits';
    if (isOfAnother(item['dev'], chipid)) return 'it belongs to another device';
    const body = typeof item['body'] === 'string' ? item['body'] : undefined;
    return new HistoryRecord(id, item['id'] as ServiceInteger, body, timeOf(item['create_time']));
  }

  get hashes(): RecordHashes | undefined {
    if (this.body === undefined) return undefined;
    return (this.#hashes ??= recordHashes(this.body));
  }

  /** The same as a list, each once. */
  get everyHash(): number[] {
    if (!this.hashes) return [];
    const { whole, bare, decoded = whole } = this.hashes;
    return [...new Set([whole, bare, decoded])];
  }

  /** Milliseconds since 1970 if its time is of UTC; NaN without a time. */
  get unix(): number {
    return toUnix(this.time, 0);
  }
}
