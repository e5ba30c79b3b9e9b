import { isObject } from '../util/object';
import { DeviceCloudError } from '../errors';
import { dropLeadingZeros } from '../input/chipid';
import { readInput } from '../input/readable';
import type { Encoding, EncodingSetting, HistoryFacts } from '../recovery/records/facts';
import { encodingSetting } from '../recovery/matching/encoding';
import { guessEncoding } from '../recovery/records/guess-encoding';
import { toUnix, zoneOffset } from '../recovery/records/zone';
import type { ServiceInteger, Upload, UploadRecord } from '../types';
import { decodeBase64 } from '../util/base64';

/** How a history is read that no recovery has read. */
export interface HistoryOptions {
  /**
   * How the service writes `body` in history records. With `auto` (default) as uploads that came both ways
   * have shown it; until then it is guessed from the bodies.
   */
  encoding?: EncodingSetting | undefined;
  /** The time zone of the history's times, an offset such as `+08:00` (default). */
  zone?: string | undefined;
}

/** The options as they are used. */
export interface HistorySettings {
  encoding: EncodingSetting;
  /** Milliseconds ahead of UTC. */
  zone: number;
}

/** Reads the options. @throws DeviceCloudError `INVALID_INPUT` */
export const readHistoryOptions = (options: HistoryOptions | undefined): HistorySettings =>
  readInput('options object for the history', () => ({
    encoding: encodingSetting(options?.encoding),
    zone: zoneOffset(options?.zone),
  }));

/** The history of a device, and what is known of how it is written. */
export interface DeviceHistory {
  chipid: string;
  appid: string;
  records: readonly unknown[];
  facts: HistoryFacts;
  /** This clock, in ms: the time of a record without one. */
  now: number;
}

const NUMBER = /^\d{1,20}$/;

/** A record with a body, unless it is of another device; whatever its id and its time are. */
function isUsable(record: unknown, chipid: string): record is UploadRecord {
  if (!isObject(record) || typeof record['body'] !== 'string') return false;
  const dev: unknown = record['dev'];
  const isNumber = (typeof dev === 'string' || typeof dev === 'number') && NUMBER.test(String(dev));
  return !isNumber || dropLeadingZeros(String(dev)) === chipid;
}

const timeOf = (record: UploadRecord, zone: number): number => {
  const time = toUnix(record.create_time, zone);
  return Number.isNaN(time) ? -Infinity : time;
};

const numberOf = (id: unknown): bigint | undefined =>
  NUMBER.test(String(id)) ? BigInt(String(id)) : undefined;

/** Of two ids that are numbers, whether the second is higher; else undefined. */
function isHigher(before: UploadRecord, after: UploadRecord): boolean | undefined {
  const [first, second] = [numberOf(before.id), numberOf(after.id)];
  return first === undefined || second === undefined ? undefined : second > first;
}

/** The newest record: by its time, since ids may start over; then by its id; then by its place. */
function newestOf(records: readonly UploadRecord[], zone: number): UploadRecord | undefined {
  const [first, last] = [records[0], records.at(-1)];
  if (!first || !last) return undefined;
  // Which end of a history is the newest is not shown (section 2.3).
  const isDescending = timeOf(first, zone) > timeOf(last, zone);
  return records.reduce((newest, record) => {
    const [before, after] = [timeOf(newest, zone), timeOf(record, zone)];
    if (before !== after) return after > before ? record : newest;
    return (isHigher(newest, record) ?? !isDescending) ? record : newest;
  });
}

const noBase64 = (chipid: string): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    `The latest record in the history of device ${chipid} is not Base64. ` +
      'Set another encoding of the history in the application.',
  );

function bytesOf(
  body: string,
  records: readonly UploadRecord[],
  history: DeviceHistory,
  setting: EncodingSetting,
): Buffer {
  const { facts } = history;
  const guess = (): Encoding => facts.encoding ?? guessEncoding(records.map(({ body }) => body));
  // What uploads that came both ways have proven counts more than a setting.
  const encoding = (facts.isProven && facts.encoding) || (setting === 'auto' ? guess() : setting);
  const decoded = encoding === 'base64' ? decodeBase64(body) : Buffer.from(body, 'utf8');
  if (decoded) return decoded;
  if (setting !== 'auto') throw noBase64(history.chipid);
  return Buffer.from(body, 'utf8');
}

const idOf = (id: unknown): ServiceInteger | undefined =>
  typeof id === 'number' || typeof id === 'string' ? id : undefined;

/**
 * The newest upload of a history; undefined if it is empty.
 * @throws DeviceCloudError `INVALID_RESPONSE` if it is not Base64 although that is set
 */
export function newestUpload(
  history: DeviceHistory,
  settings: HistorySettings,
): Upload | undefined {
  const { chipid, appid, facts, now } = history;
  const zone = facts.zone ?? settings.zone;
  const records = history.records.filter((record) => isUsable(record, chipid));
  const newest = newestOf(records, zone);
  if (!newest) return undefined;
  const time = toUnix(newest.create_time, zone);
  const body = bytesOf(newest.body, records, history, settings.encoding);
  const id = idOf(newest.id);
  const upload = { chipid, appid, timestamp: Number.isNaN(time) ? now : time, body };
  return id === undefined ? upload : { ...upload, id };
}
