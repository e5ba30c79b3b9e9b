import type { PushFormat } from '../../types';
import { bytesAsText, pushAsText } from '../assumptions';
import type { Settings } from '../options/options';
import { serverTime } from './time';

/** Data that a device has uploaded. */
export interface UploadEntry {
  /** Increases across the application. */
  readonly id: number;
  /** The device, as digits. */
  readonly chipid: string;
  /** The uploaded bytes. */
  readonly bytes: Buffer;
  /** When the service accepted it, milliseconds since 1970. */
  readonly at: number;
}

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

type Form = Pick<Settings, 'historyEncoding' | 'appName'>;

const uploadBody = (upload: UploadEntry, form: Form): string =>
  form.historyEncoding === 'base64' ? upload.bytes.toString('base64') : bytesAsText(upload.bytes);

/** A record of `up_messages/dev/:chipid/` (section 2.3). */
export const uploadRecord = (upload: UploadEntry, form: Form): object => ({
  body: uploadBody(upload, form),
  app: form.appName,
  create_time: serverTime(upload.at),
  id: upload.id,
  dev: upload.chipid,
});

/** A record of `push_messages/dev/:chipid/` (section 2.4). */
export const pushRecord = (push: PushEntry, form: Form): object => ({
  body:
    form.historyEncoding === 'base64' ? push.bytes.toString('base64') : pushAsText(push.message),
  create_time: serverTime(push.at),
  msgtype: push.format,
  id: String(push.id),
  dev: push.chipid,
});

/** A record of `sync/:begin_date/:end_date/` (section 2.5). */
export const syncRecord = (upload: UploadEntry, form: Form): object => ({
  body: uploadBody(upload, form),
  recv_time: serverTime(upload.at),
  app: form.appName,
  chipid: upload.chipid,
  create_time: serverTime(upload.at),
  id: upload.id,
});

/** Puts records, oldest first, into the order of the settings. */
export const inOrder = <T>(items: readonly T[], order: Settings['historyOrder']): T[] =>
  order === 'oldest-first' ? [...items] : items.toReversed();
