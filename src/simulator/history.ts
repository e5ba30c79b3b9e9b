import type { PushFormat } from '../types';
import { bytesAsText } from './assumptions';
import type { HistoryEncoding, HistoryOrder, Settings } from './options';
import { serverTime } from './encoding';

/** Data that a device has uploaded. */
export interface UploadEntry {
  /** Increases across the application; 0 if no history keeps it. */
  readonly id: number;
  /** The device, as digits. */
  readonly chipid: string;
  /** The uploaded bytes. */
  readonly bytes: Buffer;
  /** When the service accepted it, milliseconds since 1970. */
  readonly at: number;
  /** When it was made, by the device's clock, milliseconds since 1970. */
  readonly made: number;
  /** Of its event: `uart_trans` is data of the transparent serial mode, which no history keeps. */
  readonly type: UploadType;
}

/** The types of events that announce an upload. */
export type UploadType = 'data_upload' | 'uart_trans';

/** Something the platform has pushed to a device, whether or not it arrived. */
export interface PushEntry {
  /** Increases across the application. */
  readonly id: number;
  /** The device, as digits. */
  readonly chipid: string;
  /** As it was given to the call. */
  readonly format: PushFormat;
  /** As it was given to the call. */
  readonly message: string;
  /** What the device gets: hexadecimal and Base64 decoded. */
  readonly bytes: Buffer;
  /** When the service accepted it, milliseconds since 1970. */
  readonly at: number;
}

/** Trims the white space of ASCII alone: the server of 2016 trims bytes. */
const trimmed = (text: string): string => text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');

/** What stands before the first comma is a tag, and the rest is joined without its commas. */
function untagged(text: string): string {
  const comma = text.indexOf(',');
  return comma === -1 ? text : text.slice(comma + 1).replaceAll(',', '');
}

const BODIES = {
  text: bytesAsText,
  base64: (bytes) => bytes.toString('base64'),
  trimmed: (bytes) => trimmed(bytesAsText(bytes)),
  tagged: (bytes) => untagged(trimmed(bytesAsText(bytes))),
} satisfies Record<HistoryEncoding, (bytes: Buffer) => string>;

type Form = Pick<Settings, 'historyEncoding' | 'appName' | 'zone'>;

/** A record of `up_messages/dev/:chipid/` (section 2.3). */
export const uploadRecord = (upload: UploadEntry, form: Form): object => ({
  body: BODIES[form.historyEncoding](upload.bytes),
  app: form.appName,
  create_time: serverTime(upload.made, form.zone),
  id: upload.id,
  dev: upload.chipid,
});

/** A record of `sync/:begin_date/:end_date/` (section 2.5). */
export const syncRecord = (upload: UploadEntry, form: Form): object => ({
  body: BODIES[form.historyEncoding](upload.bytes),
  recv_time: serverTime(upload.at, form.zone),
  app: form.appName,
  chipid: upload.chipid,
  create_time: serverTime(upload.made, form.zone),
  id: upload.id,
});

const second = (ms: number): number => Math.floor(ms / 1000);

/** Puts records, oldest first, into an order. @param timeOf milliseconds since 1970 */
export function inOrder<T>(
  items: readonly T[],
  order: HistoryOrder,
  timeOf: (item: T) => number,
): T[] {
  if (order === 'oldest-first') return [...items];
  if (order === 'newest-first') return items.toReversed();
  // Within a second the order is open: here it is by id, so that nobody relies on the opposite.
  return items.toSorted((a, b) => second(timeOf(b)) - second(timeOf(a)));
}
