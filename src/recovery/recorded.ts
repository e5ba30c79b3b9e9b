import { createHash } from 'node:crypto';
import { decodeBase64 } from '../base64';
import type { UploadRecord } from '../records';
import type { Recorded } from './reconcile';
import type { Zone } from './zone';

/** Longer bodies are told apart by a hash, so that remembering them costs little. */
const MAX_KEY = 64;

const keyOf = (text: string): string =>
  text.length <= MAX_KEY ? text : createHash('md5').update(text).digest('base64');

/** How history records are read for one device. */
export interface HistoryForm {
  appid: string;
  chipid: string;
  /** How the service writes `body`: not shown, so the application says it. */
  encoding: 'text' | 'base64';
  zone: Zone;
}

/** The key of an upload that arrived live: the one its history record has, too. */
export const liveKey = (bytes: Buffer, encoding: HistoryForm['encoding']): string =>
  keyOf(bytes.toString(encoding === 'base64' ? 'base64' : 'utf8'));

/** What of a history cannot be used for recovery. */
export class UnusableHistory extends Error {
  override readonly name = 'UnusableHistory';
}

function idOf({ id }: UploadRecord): bigint {
  if (Number.isSafeInteger(id) && Number(id) >= 0) return BigInt(id);
  const text = String(id);
  if (!/^\d+$/.test(text)) throw new UnusableHistory('the ids of the history are not numbers');
  return BigInt(text);
}

function bytesOf(body: string): Buffer {
  const bytes = decodeBase64(body);
  if (bytes) return bytes;
  throw new UnusableHistory(
    'a body of the history is not Base64: set the history encoding of the application to text',
  );
}

function readRecord(record: UploadRecord, form: HistoryForm, now: number): Recorded {
  const { body } = record as { body: unknown };
  if (typeof body !== 'string') throw new UnusableHistory('a history record has no body');
  const bytes = form.encoding === 'base64' ? bytesOf(body) : undefined;
  return {
    id: idOf(record),
    // Of a text, what its bytes would give.
    key: bytes ? liveKey(bytes, form.encoding) : keyOf(body.toWellFormed()),
    upload() {
      const time = form.zone.toUnix(record.create_time);
      return {
        chipid: form.chipid,
        appid: form.appid,
        timestamp: Number.isNaN(time) ? now : time,
        body: bytes ?? Buffer.from(body, 'utf8'),
        replayed: true,
        id: record.id,
      };
    },
  };
}

/**
 * Reads history records for recovery, oldest first whatever order the service keeps.
 * @throws UnusableHistory
 */
export function readRecords(
  records: readonly UploadRecord[],
  form: HistoryForm,
  now: number,
): Recorded[] {
  const read = records.map((record) => readRecord(record, form, now));
  return read.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}
