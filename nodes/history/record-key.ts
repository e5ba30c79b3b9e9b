import { createHash } from 'node:crypto';
import type { HistoryRecord } from './body';

/** A longer id is remembered by its hash. */
const MAX_ID = 40;

const FINGERPRINT = 12;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64');
const hashOf = (value: unknown): string => `#${sha256(JSON.stringify(value))}`;

/** Year first, largest unit to smallest, in a fixed width: such times are in the order of their texts. */
const TIME = /^(\d{4}(?:\D|\d{4})[\d :.,/T年月日时分秒-]*?)(Z|UTC|[+-]\d{2}:?\d{2})?$/;

function timeText(time: unknown): string {
  if (typeof time === 'number') return String(time);
  return typeof time === 'string' && /^[^|]{1,32}$/.test(time) ? time : '';
}

/**
 * A record as it is remembered, `time|id`. One without an id is identified by its body, and one without
 * a time by its id alone.
 */
export function keyOf(record: HistoryRecord): string {
  const { create_time: time, id, body } = record as Record<keyof HistoryRecord, unknown>;
  const known = typeof id === 'number' || (typeof id === 'string' && id !== '');
  const name = known ? String(id) : hashOf([id, body]);
  return `${timeText(time)}|${name.length <= MAX_ID ? name : hashOf(name)}`;
}

export const timeOf = (key: string): string => key.slice(0, key.indexOf('|'));

/** The key of an earlier version, which knew no time but `YYYY-MM-DD HH:MM:SS`. */
export const earlierKey = (key: string): string =>
  /^[\d: -]{1,32}$/.test(timeOf(key)) ? key : key.slice(key.indexOf('|'));

export function numberOf(key: string): bigint | undefined {
  const id = key.slice(key.indexOf('|') + 1);
  return /^\d{1,20}$/.test(id) ? BigInt(id) : undefined;
}

/** The form of a time, with its zone; undefined if the order of such times is not known. */
export function layoutOf(time: string): string | undefined {
  const [, moment, zone = ''] = TIME.exec(time) ?? [];
  return moment === undefined ? undefined : moment.replace(/\d/g, '0') + zone;
}

/** Whether the texts of two times are in the order of the times. */
export function areOrdered(one: string, other: string): boolean {
  const layout = layoutOf(one);
  return layout !== undefined && layout === layoutOf(other);
}

/** Orders by time, then by number; otherwise keeps the order. */
export function compare(one: string, other: string): number {
  const [time, otherTime] = [timeOf(one), timeOf(other)];
  if (time !== otherTime) return time < otherTime ? -1 : 1;
  const [id, otherId] = [numberOf(one), numberOf(other)];
  if (id === undefined || otherId === undefined || id === otherId) return 0;
  return id < otherId ? -1 : 1;
}

/** A short hash of a key. */
export const fingerprint = (key: string): string => sha256(key).slice(0, FINGERPRINT);

/** Splits fingerprints that were saved as one text, which takes far less room than a list. */
export const fingerprintsOf = (saved: unknown): string[] =>
  typeof saved === 'string' ? (saved.match(/[A-Za-z0-9+/]{12}/g) ?? []) : [];
