import type { IncomingHttpHeaders } from 'node:http';
import type { PushFormat } from '../types';
import { serverTime, trimmed } from './encoding';

/** The types of events that announce an upload. */
export type UploadType = 'data_upload' | 'uart_trans';

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

/** Something the platform has pushed to a device, whether or not it arrived. */
export interface PushEntry {
  readonly id: number;
  readonly chipid: string;
  /** As it was given to the call, like the message. */
  readonly format: PushFormat;
  readonly message: string;
  /** What the device gets: hexadecimal and Base64 decoded. */
  readonly bytes: Buffer;
  /** When the service accepted it, milliseconds since 1970. */
  readonly at: number;
}

/** How many uploads and pushes are kept of each device. */
const HISTORY_LIMIT = 10_000;

/** Adds an item to a list that keeps its last ones. */
export function keep<T>(list: T[], item: T, limit = HISTORY_LIMIT): void {
  list.push(item);
  if (list.length > limit) list.shift();
}

/** Bytes that are not UTF-8 become U+FFFD, and are lost. */
const asText = (bytes: Buffer): string => bytes.toString('utf8');

/** What stands before the first comma is a tag, and the rest is joined without its commas. */
function untagged(text: string): string {
  const comma = text.indexOf(',');
  return comma === -1 ? text : text.slice(comma + 1).replaceAll(',', '');
}

/** The ways of writing a `body` (sections 2.3 to 2.5). */
export const BODIES = {
  text: asText,
  base64: (bytes: Buffer) => bytes.toString('base64'),
  tagged: (bytes: Buffer) => untagged(trimmed(asText(bytes))),
} as const;

/**
 * How histories write a `body`: as text, as Base64, or without the white space at its ends, its commas and what stands before the
 * first one.
 */
export type HistoryEncoding = keyof typeof BODIES;

/** How a history is written. The zone is milliseconds ahead of UTC. */
export type Form = Readonly<{ historyEncoding: HistoryEncoding; appName: string; zone: number }>;

/** A record of `up_messages/dev/:chipid/` (section 2.3). */
export const uploadRecord = (upload: UploadEntry, form: Form) => ({
  body: BODIES[form.historyEncoding](upload.bytes),
  app: form.appName,
  create_time: serverTime(upload.made, form.zone),
  id: upload.id,
  dev: upload.chipid,
});

/** A record of `sync/:begin_date/:end_date/` (section 2.5). */
export const syncRecord = (upload: UploadEntry, form: Form): object => {
  const { dev: chipid, ...record } = uploadRecord(upload, form);
  return { ...record, chipid, recv_time: serverTime(upload.at, form.zone) };
};

const secondOf = (upload: UploadEntry): number => Math.floor(upload.made / 1000);

/** Puts uploads, oldest first, into the order of a history. */
export const inOrder = (
  uploads: readonly UploadEntry[],
  isNewestFirst: boolean,
): readonly UploadEntry[] =>
  // Within a second the order is open: here it is by id, so that nobody relies on the opposite.
  isNewestFirst ? uploads.toSorted((a, b) => secondOf(b) - secondOf(a)) : uploads;

/** A request that has arrived, the upgrade to a channel included. */
export interface RequestRecord {
  /** In upper case. */
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The query as sent, `sign` included: the simulator's keys are no secrets. */
  readonly query: string;
  /** The body as UTF-8, of a long one the first 64 KiB. */
  readonly body: string;
  /** Names in lower case, as Node.js gives them. */
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds since 1970, by the simulator's clock. */
  readonly at: number;
  /** The answer's status; 0 until there is one. */
  readonly status: number;
}

/** A text frame that has arrived on a channel. */
export interface FrameRecord {
  /** The channel's device, as digits. */
  readonly chipid: string;
  /** The frame, JSON if it is a good one; of a long one the first 64 KiB. */
  readonly text: string;
}

export type OpenRecord = { -readonly [Name in keyof RequestRecord]: RequestRecord[Name] };

/** How many requests and frames are kept. */
export const LOGGED = 1000;

/** The first 64 KiB. Decoded from the bytes: a slice of a long string would keep all of it in memory. */
export const logged = (bytes: Buffer): string => bytes.toString('utf8', 0, 64 * 1024);
