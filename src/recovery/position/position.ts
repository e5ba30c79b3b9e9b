import { isObject } from '../../util/object';
import { invalidInput } from '../../errors';
import type { Edge } from './edge';
import type { Encoding } from '../records/facts';

/** How far the uploads of a device have been emitted; small enough to be saved with each one. */
export interface Position {
  /** Newest history id known to be emitted. */
  id: string;
  /** How many were emitted live after it, whose ids are not known. */
  live: number;
  /** Key of the last one of those. */
  last?: string;
  /** The keys of those that followed, as long as something may have been missed before them. */
  keys?: string[];
  /** Some records of the history, to recognise it if its ids start over. */
  edge?: Edge;
  /** How the history writes bodies, if that has been learned. */
  encoding?: Encoding;
}

const isTexts = (value: unknown, form = /^/): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && form.test(item));

const isEdge = (value: unknown): boolean =>
  isObject(value) && typeof value['time'] === 'string' && isTexts(value['seen'], /^\d{1,20} \S+$/);

/** Whether a value is a position: it may have been saved by an older version, or be anything. */
export function isPosition(value: unknown): value is Position {
  if (!isObject(value)) return false;
  const { id, live, last = '', keys = [], edge, encoding = 'text' } = value;
  return (
    typeof id === 'string' &&
    /^(-1|\d{1,20})$/.test(id) &&
    Number.isSafeInteger(live) &&
    Number(live) >= 0 &&
    typeof last === 'string' &&
    isTexts(keys) &&
    (edge === undefined || isEdge(edge)) &&
    (encoding === 'text' || encoding === 'base64')
  );
}

/**
 * Checks the `start` of a listener.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function checkStart(start: unknown): void {
  if (start === undefined || start === null || isPosition(start)) return;
  throw invalidInput(
    'The start of a listener must be a position as it was given to save, unchanged; leave it out to ' +
      'recover only later uploads.',
  );
}
