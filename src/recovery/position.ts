import { invalidInput } from '../errors';
import { isObject } from '../util/object';
import { isLearned, type Learned } from './facts';

/** How far the uploads of a device have been emitted; small enough to be saved often (rule 2). */
export interface Position {
  /** The history up to this id has been emitted. */
  id: string;
  /** The arrivals since then, as hashes. */
  keys?: string[];
  /** The newest records up to the id, newest first. */
  seen?: [id: string, time: string][];
  /** How many bytes the history had up to an id, if it says so. */
  measure?: [id: string, bytes: number];
  /** Since ids have started over, only records with a later time count. */
  afterTime?: string;
  /** What was learned of the histories of the application: how they write bodies, and the zone of their times. */
  learned?: Learned;
  /** The last text of the device that came both ways was in the history as it was. */
  isPlain?: boolean;
  /** Bytes that are no text came in Base64 among texts. */
  isMixed?: boolean;
  /** Its times are not in the order of its ids. */
  isUnordered?: boolean;
}

const isId = (value: unknown): boolean =>
  typeof value === 'string' && /^(-1|\d{1,20})$/.test(value);
const isList = (value: unknown, is: (item: unknown) => boolean): boolean =>
  value === undefined || (Array.isArray(value) && value.every(is));
const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean';

/** Whether a value is a position: it may be anything. */
export function isPosition(value: unknown): value is Position {
  if (!isObject(value)) return false;
  const { id, keys, seen, measure, learned = {}, afterTime = '' } = value;
  return (
    isId(id) &&
    typeof afterTime === 'string' &&
    isList(keys, (key) => typeof key === 'string') &&
    isList(seen, (pair) => Array.isArray(pair) && isId(pair[0]) && typeof pair[1] === 'string') &&
    (measure === undefined ||
      (Array.isArray(measure) && isId(measure[0]) && Number.isSafeInteger(measure[1]))) &&
    isLearned(learned) &&
    ['isPlain', 'isMixed', 'isUnordered'].every((flag) => isFlag(value[flag]))
  );
}

/** Checks the `start` of a listener. @throws DeviceCloudError `INVALID_INPUT` */
export function checkStart(start: unknown): void {
  if (start === undefined || start === null || isPosition(start)) return;
  throw invalidInput(
    'The start of a listener must be a position as it was given to save, unchanged; leave it out to ' +
      'recover only later uploads.',
  );
}
