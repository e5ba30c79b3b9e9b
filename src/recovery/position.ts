import { invalidInput } from '../errors';
import { isObject } from '../util/json';
import { Arrival } from './arrival';
import { apart, idFromText, type RecordId, type Seen, type Shown } from './answer';

const SECOND = 1000;

/** How far the uploads of a device have been emitted; small enough to be saved often (rule 2). */
export interface Position {
  /** The history up to this id has been emitted. */
  id: string;
  /** The arrivals since then, as hashes. */
  keys?: string;
  /** The newest records up to the id, newest first: of each, by how much its id is lower, and its time in seconds or null. */
  seen?: (number | null)[];
  /** How many bytes the history had up to an id, if it says so: by how much that id is lower, and the bytes. */
  size?: [lower: number, bytes: number];
  /** Since ids have started over, only records with a later time count, in seconds. */
  afterTime?: number;
  /** What is known of its history: `p` it is plain, `m` it is mixed, `u` it is unordered, `l` it lags. */
  is?: string;
}

const isId = (value: unknown): boolean =>
  typeof value === 'string' && /^(-1|\d{1,20})$/.test(value);
const isNumber = (value: unknown): boolean => Number.isFinite(value);

/** Whether a value is a position: it may be anything. */
export function isPosition(value: unknown): value is Position {
  if (!isObject(value)) return false;
  const { id, seen = [], size = [0, 0] } = value;
  return (
    isId(id) &&
    ['keys', 'is'].every((key) => typeof (value[key] ?? '') === 'string') &&
    isNumber(value['afterTime'] ?? 0) &&
    Array.isArray(seen) &&
    seen.length % 2 === 0 &&
    seen.every((each, place) => isNumber(each) || (place % 2 === 1 && each === null)) &&
    Array.isArray(size) &&
    size.length === 2 &&
    size.every(isNumber)
  );
}

/** What a position is made of, as a recovery has it. */
export interface State extends Shown {
  id: RecordId;
  arrivals: readonly Arrival[];
}

const lowered = (id: RecordId, by: number): RecordId =>
  idFromText(String(BigInt(id) - BigInt(Math.trunc(by))));

export function writePosition(state: State): Position {
  const { id, arrivals, measure, afterTime, isPlain, isMixed, isUnordered, isLagging } = state;
  const seen: (number | null)[] = [];
  let before = id;
  let last = 0;
  for (const [each, time] of state.seen) {
    seen.push(apart(each, before), Number.isNaN(time) ? null : time / SECOND - last);
    before = each;
    if (!Number.isNaN(time)) last = time / SECOND;
  }
  const is =
    (isPlain ? 'p' : '') + (isMixed ? 'm' : '') + (isUnordered ? 'u' : '') + (isLagging ? 'l' : '');
  return {
    id: String(id),
    ...(arrivals.length > 0 && { keys: Arrival.saveAll(arrivals) }),
    ...(seen.length > 0 && { seen }),
    ...(measure && { size: [apart(measure.id, id), measure.bytes] }),
    ...(afterTime !== undefined && { afterTime: afterTime / SECOND }),
    ...(is && { is }),
  };
}

export function readPosition(position: Position): State {
  const { keys = '', seen = [], size, afterTime, is = '' } = position;
  const id = idFromText(position.id);
  const read: Seen[] = [];
  let before = id;
  let last = 0;
  for (let place = 0; place < seen.length; place += 2) {
    const time = seen[place + 1] ?? NaN;
    before = lowered(before, seen[place] ?? 0);
    if (!Number.isNaN(time)) last += time;
    read.push([before, Number.isNaN(time) ? NaN : last * SECOND]);
  }
  return {
    id,
    arrivals: Arrival.readAll(keys),
    seen: read,
    measure: size && { id: lowered(id, size[0]), bytes: size[1] },
    afterTime: afterTime === undefined ? undefined : afterTime * SECOND,
    isPlain: is.includes('p'),
    isMixed: is.includes('m'),
    isUnordered: is.includes('u'),
    isLagging: is.includes('l'),
  };
}

/** Checks the `start` of a listener. @throws DeviceCloudError `INVALID_INPUT` */
export function checkStart(start: unknown): void {
  if (start === undefined || start === null || isPosition(start)) return;
  throw invalidInput(
    'The start of a listener must be a position as it was given to save, unchanged; leave it out to ' +
      'recover only later uploads.',
  );
}
