import { createHash } from 'node:crypto';
import {
  dropLeadingZeros,
  type Keeping,
  type Lent,
  type PushRecord,
  type SyncRecord,
  type UploadRecord,
} from '../../src/index';
import { isObject } from '../common/shared.config';

/** A record of any of the three histories. */
export type HistoryRecord = UploadRecord | PushRecord | SyncRecord;

/** The type promises a text, but the service may send a number. */
const digitsOf = ({ chipid }: { chipid: unknown }): string => dropLeadingZeros(String(chipid));

/** The device that a record names itself (section 2.5). */
export const deviceOf = (record: HistoryRecord): string | undefined =>
  'chipid' in record ? digitsOf(record) : undefined;

/** Up to where the records of one device have been emitted. */
interface Mark {
  /** The highest numeric id, as digits; empty without one. */
  id: string;
  /** The latest time; empty if none was a time of the service. */
  time: string;
  /** The records of that time, by their ids, since the next ones may have the same. */
  names: string[];
}

/** How many records of one time are remembered. */
const MOST_NAMES = 1000;

/** How many devices are remembered; the one read longest ago is forgotten first. */
const MAX_DEVICES = 10_000;

/** A longer id is remembered by its hash. */
const MAX_ID = 40;

/** A time of the service (section 2): such times are in the order of their texts. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** What is remembered of a record. Ids may be texts (section 2.4); a record without one is known by its body. */
function readRecord({ create_time: time, id, body }: HistoryRecord) {
  const name = JSON.stringify((id as unknown) ?? [body]);
  const hash = (): string => createHash('sha256').update(name).digest('base64');
  return {
    id: /^\d{1,20}$/.test(String(id)) ? String(id) : '',
    time: typeof time === 'string' && TIME.test(time) ? time : '',
    name: name.length > MAX_ID ? hash() : name,
  };
}

/** Whether an id is higher. Without zeros in front, the longer one is; none is the lowest. */
const isHigher = (id: string, than: string): boolean =>
  id.length === than.length ? id > than : id.length > than.length;

/** Reads what the store holds for a device, which may be anything: then it starts over. */
function readMark(stored: unknown): Mark {
  const { id, time, names } = isObject(stored) ? stored : {};
  const isMark = typeof id === 'string' && typeof time === 'string' && Array.isArray(names);
  return isMark ? { id, time, names: names.map(String) } : { id: '', time: '', names: [] };
}

/**
 * Leaves out the records that were emitted before, by a mark for each device. One is new if its id is higher or its time later
 * than all before: ids start at 1 again in a service that was restored, and its clock may be set back.
 * @param store marks of the node, perhaps lent by another process
 * @param prefix of the keys of its marks, which name the history, too
 * @param chipid the device, or empty where each record names its own (section 2.5)
 * @returns the new records, and a function to call once they have been emitted, which remembers them
 */
export async function onlyNew(
  store: Pick<Keeping | Lent, 'get' | 'list' | 'update' | 'loaded'>,
  prefix: string,
  chipid: string,
  records: readonly HistoryRecord[],
): Promise<{ fresh: HistoryRecord[]; remember: () => void }> {
  await store.loaded;
  const marks = new Map<string, { before: Mark; after: Mark }>();
  const fresh = records.filter((record) => {
    const key = prefix + (deviceOf(record)?.slice(0, MAX_ID) ?? chipid);
    const stored = store.get(key);
    const mark = marks.get(key) ?? { before: readMark(stored), after: readMark(stored) };
    marks.set(key, mark);
    const { before, after } = mark;
    const { id, time, name } = readRecord(record);
    if (time === after.time && after.names.includes(name)) return false;
    const isKnown = time < before.time || (time === before.time && before.names.includes(name));
    if (isKnown && !isHigher(id, before.id)) return false;
    if (isHigher(id, after.id)) after.id = id;
    if (time > after.time) Object.assign(after, { time, names: [] });
    if (time === after.time) after.names = [...after.names, name].slice(-MOST_NAMES);
    return true;
  });
  const remember = (): void => {
    for (const [key, { after }] of marks) {
      // Removed first: the devices just read are the last to be forgotten.
      store.update(key, undefined);
      store.update(key, after);
    }
    for (const [key] of store.list(prefix).slice(0, -MAX_DEVICES)) store.update(key, undefined);
  };
  return { fresh, remember };
}
