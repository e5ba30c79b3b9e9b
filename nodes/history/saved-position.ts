import { isObject } from '../common/values';
import type { Mark } from './mark';
import type { Position } from './position';
import { fingerprintsOf } from './record-key';

/** Distinguishes a saved position from those of earlier versions, which have no format. */
const FORMAT = 2;

/** Makes what the context holds for a device. */
export function savePosition({ emitted, before, others, overflow }: Position): object {
  const same = before?.same && { same: [...before.same].join('') };
  return {
    format: FORMAT,
    emitted,
    ...(before && { before: { ...before, ...same } }),
    ...(others && { others: others.join('') }),
    ...(overflow && { overflow }),
  };
}

/** Reads what the context holds for a device: a position, the number of an earlier version, or anything. */
export function readPosition(stored: unknown): Position {
  if (typeof stored === 'string' && /^\d+$/.test(stored)) {
    return { emitted: [], before: { id: stored } };
  }
  if (!isObject(stored)) return { emitted: [] };
  const list: unknown[] = Array.isArray(stored['emitted']) ? stored['emitted'] : [];
  const emitted = list.filter((key) => typeof key === 'string' && key.includes('|')) as string[];
  const before = readMark(stored['before']);
  const others = fingerprintsOf(stored['others']);
  return {
    emitted,
    ...(before && { before }),
    ...(others.length > 0 && { others }),
    ...(stored['overflow'] === true && { overflow: true }),
    ...(stored['format'] !== FORMAT && { earlier: true }),
  };
}

function readMark(stored: unknown): Mark | undefined {
  if (!isObject(stored)) return undefined;
  const { time, id, same } = stored;
  const mark: Mark = {};
  if (typeof time === 'string') mark.time = time;
  if (typeof id === 'string' && /^\d+$/.test(id)) mark.id = id;
  if (typeof same === 'string') mark.same = new Set(fingerprintsOf(same));
  return mark;
}
