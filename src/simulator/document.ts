import { signOpenApi, type Params } from '../protocol/signing';
import { PUSH_FORMATS, type PushFormat } from '../types';
import { decodeBase64 } from '../util/decode';
import { PINS, type Device, type Received } from './device';
import { SERVER_ZONE, serverDay, serverTime, startOfDay } from './encoding';
import {
  syncRecord,
  type Form,
  type HistoryEncoding,
  type PushEntry,
  type UploadEntry,
} from './history';
import { badRequest, integer, notFound, nothingHere, Refusal, requireParam } from './http';

/** The calls that wait for a device, by how long. */
export type Wait = 'push' | 'call' | 'refresh';

/** Why a device did not answer: it was not connected, or did not answer in time. */
export type Silence = 'away' | 'silent';

/** A request of interface B, or for a channel, whose sign is to be checked. */
export interface Signed {
  /** The request method; the channel's is `get` (section 4.3). */
  readonly method: string;
  /** The parameters of the URL. */
  readonly query: Params;
  /** All parameters, with those in a form. */
  readonly params: Params;
  readonly of: 'open-api' | 'channel';
}

/** A push on its way to a device. */
export type Push = Pick<Received, 'via' | 'format' | 'bytes'> & { readonly message: string };

/** A part of a list of interface A. */
export interface ListPage {
  readonly page: number;
  readonly count: number;
  readonly total: number;
}

/** What a body of interface A asks for: to change a device, or to pass data through to it. */
export interface ServerChange {
  data?: string;
  format?: PushFormat;
  name?: string | null | undefined;
  note?: string | undefined;
  disabled?: boolean | undefined;
}

const HEX = /^(?:[0-9a-fA-F]{2})*$/;

/** The format of a name (section 4.2.3), or undefined if there is no such format. */
export const formatOf = (name: unknown): PushFormat | undefined =>
  PUSH_FORMATS.find((format) => format === name);

/** The bytes of a message in hexadecimal or Base64, or undefined if it is malformed. */
export function decoded(message: string, format: 'HEX' | 'B64'): Buffer | undefined {
  if (format === 'B64') return decodeBase64(message);
  return HEX.test(message) ? Buffer.from(message, 'hex') : undefined;
}

/** Assumed: the format of a push may be left out (4.2.3). */
export const DEFAULT_FORMAT: PushFormat = 'MSG';

function readFormat(name: unknown): PushFormat {
  if (name === undefined) return DEFAULT_FORMAT;
  const format = formatOf(name);
  if (!format) throw badRequest(`format must be one of ${PUSH_FORMATS.join(', ')}`);
  return format;
}

/** Assumed: a timestamp of interface B is in seconds, and one of more than 10 digits an invalid parameter (4.2). */
const MOST_SECONDS = 10;
/** Assumed: in the channel's address 13 digits or more count milliseconds, fewer seconds (4.3). */
const LEAST_MILLISECONDS = 13;

/** Assumed: the `result` of a command that the device has carried out (4.2.10, 4.2.12). */
const DONE = 'OK';

const noDevice = (chipid: string): Refusal => notFound(`there is no device ${chipid.slice(0, 40)}`);

function messageBytes(message: string, format: PushFormat, _via: Push['via']): Buffer {
  if (format !== 'HEX' && format !== 'B64') return Buffer.from(message, 'utf8');
  const bytes = decoded(message, format);
  if (bytes) return bytes;
  throw badRequest(
    format === 'HEX' ? 'message is not pairs of hexadecimal digits' : 'message is not Base64',
  );
}

/** What is known of an application where signatures are checked. */
export interface Application {
  readonly settings: {
    readonly appid: string;
    readonly appkey: string;
    readonly timestampWindow: number;
    readonly replace: boolean;
    readonly now: () => number;
  };
}

/**
 * What the dialects do differently, as the service's document says it. Where the document leaves it open, the comment says
 * that it is assumed. Each function may throw a Refusal.
 */
export const documentDialect = {
  /** The default of the option; mixed case shows a sign that lowercases wrongly. */
  appkey: 'Simulator-AppKey',
  /** The default of the option, assumed (2.3 to 2.5). */
  historyEncoding: 'text' as HistoryEncoding,
  /** The default of the option. Assumed: any timestamp is accepted (5.2). */
  timestampWindow: Infinity,
  /** Milliseconds after which the service gives up on a call. Assumed: the same for every call as for a push (4.2.3, 8). */
  waits: { push: 10_000, call: 10_000, refresh: 10_000 },
  /** Whether a call to a device that is not connected is answered at once, without a wait. */
  knowsWhoIsAway: false,
  /** How endpoint 2 is spelled, assumed; the other spelling is 404 (4.2). */
  devicesPath: 'list',
  /** Whether histories begin with the newest record. Assumed, of `sync` as well (4.2.5 to 4.2.7). */
  isNewestFirst: false,
  /** The zone of the times in histories, milliseconds ahead of UTC. */
  zone: SERVER_ZONE,

  /** Checks the common parameters of interfaces B and C (section 5.2). 400 if one is missing or invalid (section 7). */
  checkSign({ settings }: Application, { method, query, params, of }: Signed): void {
    const { appid, appkey, timestampWindow, now } = settings;
    // The common parameters have to be in the URL (section 4.2, rule 2).
    const given = integer('appid', requireParam(query, 'appid'));
    const timestamp = integer('timestamp', requireParam(query, 'timestamp'));
    const sign = requireParam(query, 'sign');
    if (of === 'open-api' && timestamp.length > MOST_SECONDS) {
      throw badRequest('timestamp must be Unix seconds');
    }
    // Assumed: as for a deleted application; 404 is the other possible reading (7).
    if (given !== appid) throw new Refusal(401, 'there is no such application');
    // Assumed: a malformed one is wrong, too, and no invalid parameter (7).
    if (sign !== signOpenApi(method, params, appkey)) throw new Refusal(401, 'sign is wrong');
    const ms = Number(timestamp) * (timestamp.length >= LEAST_MILLISECONDS ? 1 : 1000);
    if (Math.abs(ms - now()) > timestampWindow * 1000) {
      throw new Refusal(401, 'timestamp is too far from the time of the server');
    }
  },
  /** The refusal of a path of interface B that does not exist. */
  noPath: nothingHere,
  /** The refusal of a chip number that is not the integer it should be. */
  notInteger: (name: string, _isInPath: boolean): Refusal =>
    badRequest(`${name} must be an integer`),
  /** The refusal of a device that does not exist. */
  noDevice,
  /** The refusal of the history of a device that does not exist. */
  noHistory: noDevice,

  /** The `latest` of a device. */
  latest: (device: Device): string => serverTime(device.lastSeen, SERVER_ZONE),
  /** Checks that a history can be written. */
  checkHistory: (_uploads: readonly UploadEntry[]): void => undefined,
  /** Which uploads `sync/` gives for two dates. Assumed: both are included, and they are in order (4.2.7). */
  readSpan(begin: string, end: string): (upload: UploadEntry) => boolean {
    if ([begin, end].some((day) => startOfDay(day) === undefined)) {
      throw badRequest('dates must be YYYYMMDD');
    }
    if (begin > end) throw badRequest('begin_date is after end_date');
    return ({ at }) => {
      const day = serverDay(at);
      return begin <= day && day <= end;
    };
  },
  /** What the history says of a push. Assumed: the message as given, so that hex stays hex, and the format (2.4). */
  pushedAs: ({ bytes, message, format }: PushEntry, encoding: HistoryEncoding) => ({
    body: encoding === 'base64' ? bytes.toString('base64') : message,
    msgtype: format as string,
  }),
  /** Whether a push is in the history of its device. Assumed: without an answer, too (4.2.6). */
  keepsPush: (_via: Push['via'], _isAnswered: boolean): boolean => true,

  /** Reads the parameters of a push. Assumed: a message is required, but may be empty (4.2.3). */
  readPush({ message, format: name }: Params, via: Push['via']): Push {
    if (message === undefined) throw badRequest('parameter message is missing');
    const format = readFormat(name);
    return { via, format, message, bytes: messageBytes(message, format, via) };
  },
  /** What reaches a device of a message. */
  messageBytes,
  /** What a device reads of it as text. */
  deviceText: (bytes: Buffer): string => bytes.toString('utf8'),
  /** The answer to a push to all devices. @param _reached how many were online */
  pushedToAll: (_reached: number): object => ({ msg: 'success' }),

  /** What a call is answered with that its device did not answer. Assumed: a refresh with 200, others with 504 (4.2.11, 7). */
  unanswered(chipid: string, wait: Wait, _why: Silence): Refusal {
    if (wait === 'refresh') return new Refusal(200, '', {}, { status: 'offline', msg: 'timeout' });
    return new Refusal(504, `device ${chipid} did not answer in time`);
  },
  /** The answer of a callback; undefined if no callback has that key, assumed to be 404 (4.2.8). */
  callbackAnswer(chipid: string, callback: { value: unknown } | undefined): unknown {
    if (callback) return callback.value;
    throw notFound(`device ${chipid} has no such callback`);
  },
  /** The `result` of `gpio_status`, assumed (4.2.9). @param levels a character 0 or 1 by pin */
  gpioResult: (levels: string): string => levels,
  /** Reads the segments of `set_gpio_edge`: the pin, if the device has it, and what the device answers. */
  readPin(text: string, edge: string): { pin: number | undefined; level: 0 | 1; result: string } {
    const pin = Number(integer('pin', text));
    if (pin >= PINS) throw badRequest(`pin must be less than ${PINS}`);
    if (edge !== '0' && edge !== '1') throw badRequest('edge must be 0 or 1');
    return { pin, level: edge === '1' ? 1 : 0, result: DONE };
  },
  /** The `result` of a reboot. */
  rebooted: DONE,

  // Interface A. Assumed, all of it: ids are chip numbers, and records and bodies look like this (2.6, 4.1).

  /** Whether data for a device may also be sent by `POST /device/:id/messages`. */
  posts: false,
  /** The device that a path names. */
  serverDevice(
    { devices }: { readonly devices: ReadonlyMap<string, Device> },
    deviceid: string,
  ): Device {
    const device = devices.get(deviceid);
    if (!device) throw noDevice(deviceid);
    return device;
  },
  serverList: (devices: readonly Device[], page: ListPage): object => ({
    ...page,
    devices: devices.map(({ chipid }) => chipid),
  }),
  serverRecord: (device: Device, _form: Form): object => ({
    deviceid: device.chipid,
    name: device.name,
    status: device.online ? 'online' : 'offline',
    disabled: device.disabled,
    vertype: 1,
    latest: serverTime(device.lastSeen, SERVER_ZONE),
  }),
  serverUploads: (uploads: readonly UploadEntry[], page: ListPage, form: Form): object => ({
    ...page,
    messages: uploads.map((upload) => syncRecord(upload, form)),
  }),
  /**
   * What a body asks for, undefined if it cannot be read: `data`, perhaps with a `format`, is passed through; `name`
   * renames, `disabled` disables or re-enables. A disabled device is not online, uploads nothing and answers nothing.
   */
  readChange(_method: string, body: Record<string, unknown>): ServerChange | undefined {
    const { data, format, name, disabled } = body;
    if (name !== undefined && name !== null && typeof name !== 'string') return undefined;
    if (disabled !== undefined && typeof disabled !== 'boolean') return undefined;
    const isUpdate = name !== undefined || disabled !== undefined;
    if (data === undefined) return isUpdate ? { name, disabled } : undefined;
    if (typeof data !== 'string' || isUpdate) return undefined;
    return { data, format: readFormat(format) };
  },
};

/** What the dialects do differently. Whatever is not here is the same in both. */
export type Dialect = Readonly<typeof documentDialect>;
