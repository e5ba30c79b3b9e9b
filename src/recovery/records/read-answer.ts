import { isObject } from '../../util/object';
import type { UploadRecord } from '../../types';
import { HistoryRecord, type HistoryForm } from './recorded';

/** Longer ids are rejected: no counter gets so far, and all later uploads would be sorted before such a record. */
const MAX_DIGITS = 20;
const DIGITS = /^\d+$/;

/** An id of a history: a safe integer from 0, or up to 20 digits. @returns undefined for anything else */
function idOf(id: unknown): bigint | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) && id >= 0 ? BigInt(id) : undefined;
  if (typeof id !== 'string' || id.length > MAX_DIGITS || !DIGITS.test(id)) return undefined;
  return BigInt(id);
}

/** Whether `dev` of a record (section 2.3) is the number of another device, in any notation. */
const isOfAnother = (dev: unknown, chipid: string): boolean =>
  dev !== chipid &&
  (typeof dev === 'string' || typeof dev === 'number') &&
  DIGITS.test(String(dev)) &&
  String(dev).replace(/^0+(?=\d)/, '') !== chipid;

/** What can be used of an answer, and what is wrong with the rest. */
export interface ReadAnswer {
  /** By id, oldest first, each id once. */
  records: HistoryRecord[];
  /** What is wrong with records that were left out, as texts for the log. */
  faults: Set<string>;
}

/** Reads an answer for recovery. Whatever is not a valid record is left out and reported. */
export function readAnswer(answer: readonly unknown[], form: HistoryForm): ReadAnswer {
  const records: HistoryRecord[] = [];
  const faults = new Set<string>();
  for (const item of answer) {
    const id = isObject(item) ? idOf(item['id']) : undefined;
    if (id === undefined) {
      faults.add(
        isObject(item) ? 'its id is not a number of at most 20 digits' : 'it is no object',
      );
      continue;
    }
    const record = item as UploadRecord & { body: unknown };
    if (isOfAnother(record.dev, form.chipid)) {
      faults.add('it is of another device');
      continue;
    }
    const isWhole = typeof record.body === 'string';
    if (!isWhole) faults.add('its body is not text');
    records.push(new HistoryRecord(id, isWhole ? record : undefined, form));
  }
  return { records: isInOrder(records) ? records : inOrder(records, faults), faults };
}

/** Whether each id is above the one before, as in most histories. */
function isInOrder(records: readonly HistoryRecord[]): boolean {
  for (let index = 1; index < records.length; index++) {
    if (!((records[index - 1] as HistoryRecord).id < (records[index] as HistoryRecord).id))
      return false;
  }
  return true;
}

/** Sorts records by id. Of several with the same id, the first that can be read is kept: each id is one upload. */
function inOrder(records: HistoryRecord[], faults: Set<string>): HistoryRecord[] {
  records.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const kept: HistoryRecord[] = [];
  for (const record of records) {
    const earlier = kept.at(-1);
    if (earlier?.id !== record.id) kept.push(record);
    else if (earlier.body === undefined) kept[kept.length - 1] = record;
    else if (record.body !== undefined && record.body !== earlier.body)
      faults.add('its id is that of another record');
  }
  return kept;
}
