/**
 * Everything the simulator had to choose because the service's document marks it "not shown" or does
 * not mention it. None of this is a fact about the service: a client that relies on it relies on the
 * simulator. Sections are sections of the service's document. What the dialect `public-2016` had to choose,
 * because nobody knows it of the public server of 2016, is in the last part.
 *
 * Also assumed, without a name below:
 * - 4.2: an unknown path is 404 and a missing final `/` is 301 before anything else is looked at; then
 *   come method, parameters, sign, the values of parameters, and the device, in this order.
 * - 4.2, 5.2: a parameter given twice, in one place or in both, is an illegal request, since its place
 *   in the signature is not stated. `+` is a space in query and body. Lowercasing for the signature is
 *   Unicode's, as `toLowerCase`, not ASCII's.
 * - 4.2, rule 4: the answer of `apps/` has no `msg`, as its row in the table has none.
 * - 4.2: a chip number with leading zeros or more than 20 digits names no device: 404.
 * - 4.2.3: the text of a `LUA` push is the source itself; neither it nor an `AT` command is run.
 * - 4.2.3, 4.2.6: a push that no device answered was pushed all the same, and is in the history; one to
 *   all devices is only in the history of devices that were online. Histories are answered whole.
 * - 4.2.12: a device answers before it goes away for the reboot; channels stay open meanwhile.
 * - 4.2, rule 5, and 8: the User-Agent is ignored, and frequent calls reset no device.
 * - 6: an upload is in the history before it is announced, and channels get uploads in the order of ids.
 * - 2.3 to 2.5: ids are integers that grow across the application, and are decimal text for pushes.
 * - 5.1: the `:deviceid` of interface A is the chip number; a path with a final `/` is 404.
 * - 6: heartbeats are logged; a channel without any is never closed.
 * - 7: an error of interface A has the body `{msg}`, as errors of interface B have.
 */
import { PUSH_FORMATS, type PushFormat } from '../types';
import { serverTime, toJson } from './encoding';
import type { DeviceKind } from './sensors';

// ---- Time (2.3, 2.4, 2.5, 5.1, 5.2, 6)

/** Zone of every `YYYY-MM-DD HH:MM:SS` and of the days of `sync`: Beijing, which 5.1 calls server time. */
export const SERVER_ZONE = 8 * 60 * 60 * 1000;

/** 5.2: the window of a timestamp of interfaces B and C, in seconds. Infinity: any timestamp is accepted. */
export const TIMESTAMP_WINDOW = Infinity;

/** 4.2: the timestamp of interface B is in seconds; one of more than 10 digits is an invalid parameter. */
export const isSeconds = (timestamp: string): boolean => timestamp.length <= 10;

/** 4.3: in the channel's address 13 digits or more count milliseconds, fewer seconds. */
export const timestampMs = (timestamp: string): number =>
  timestamp.length >= 13 ? Number(timestamp) : Number(timestamp) * 1000;

/** 6: the unit of an event's `timestamp`; "Unix time" is assumed to be seconds. */
export const EVENT_TIMESTAMP = 's';

// ---- Statuses of section 7, where it leaves open which

export const STATUS = {
  /** A known path with another method: "an illegal request". */
  wrongMethod: 400,
  /** A sign that is not 32 lowercase hexadecimal characters is a wrong one, not an invalid parameter. */
  malformedSign: 401,
  /**
   * An unknown appid is treated as the appid of a deleted application. "The application information does not
   * exist", 404, is the other possible reading: the option `unknownApp` chooses.
   */
  unknownAppid: 401,
  /** 5.1: a `Timestamp` too far from the server's time "is rejected". */
  clockOff: 401,
  /** A device that does not answer: "the gateway that holds the device connection fails". */
  noAnswer: 504,
  /** 4.2.8: a key under which the device has no callback. */
  unknownCallback: 404,
  /** A plain HTTP request to the channel's path. */
  notAnUpgrade: 400,
} as const;

/** 4.2.3, 8: ms without the device's answer after which the service gives up on a device call. */
export const NO_ANSWER_AFTER = 10_000;

// ---- Interface B

/** 4.2.3: `format` may be left out, and then is this. */
export const DEFAULT_FORMAT: PushFormat = 'MSG';

/** 4.2.3: a `message` is required, but may be empty. */
export const isMessage = (message: string | undefined): message is string => message !== undefined;

/** 4.2: which of the two spellings of endpoint 2 answers; the other one is 404. */
export const DEVICES_PATH = 'list';

/**
 * 4.2.2: which devices are in the list of online devices. A device that sleeps or is off
 * leaves it at once and is back as soon as it wakes. Nothing is kept for it meanwhile, its pins keep
 * their levels, and to wake is no reset.
 */
export const isOnline = (device: {
  readonly on: boolean;
  readonly rebooting: boolean;
  readonly disabled: boolean;
  readonly asleep: boolean;
}): boolean => device.on && !device.rebooting && !device.disabled && !device.asleep;

/** 4.2.9: the number of pins, one character each in `result`; index = pin. */
export const PINS = 16;

/** 4.2.9: the level characters, by level. After a reset every pin is low. */
export const LEVEL_CHARACTERS = ['0', '1'] as const;

/** 4.2.10, 4.2.12: the `result` of a command that the device has carried out. */
export const RESULT_OK = 'OK';

/** 4.2.11: the answer of a refresh when the device did not answer in time; its status is 200. */
export const REFRESH_OFFLINE = { status: 'offline', msg: 'timeout' } as const;

/** 4.2.7: both days are included, and a begin after the end is an invalid parameter. */
export const isSpan = (begin: string, end: string): boolean => begin <= end;

/** 4.2.5, 4.2.6: the order of history records, by time, of `sync` as well. */
export const HISTORY_ORDER = 'oldest-first';

/** 2.3 to 2.5: whether a `body` is the data as text or as Base64. */
export const HISTORY_ENCODING = 'text';

/** 2.3, 2.5: in text mode, bytes that are not UTF-8 become U+FFFD, and are lost. */
export const bytesAsText = (bytes: Buffer): string => bytes.toString('utf8');

/** 2.4: in text mode the `body` of a push is its message as given: hex stays hex, Base64 stays Base64. */
export const pushAsText = (message: string): string => message;

/** 2.4: the label of a push is its format; a push over the channel, which brings Base64, is `B64`. */
export const CHANNEL_FORMAT: PushFormat = 'B64';

/**
 * 6: what a device uploads is its firmware's affair. That of the simulator's devices uploads a JSON object, by
 * the kind of the device: `climate` `{"temperature":24.1,"humidity":56.3}` (°C, %), `power`
 * `{"power":182,"voltage":229.6,"energy":1284.311}` (W, V, kWh), `door` `{"open":false,"battery":87}` (%). A `probe`
 * measures as `climate` does, and uploads four bytes: `a1`, the temperature in hundredths (16 bits), the humidity.
 * Their relay, on pin 5, switches a cooling, a heater, and nothing.
 */
export const DEFAULT_KIND: DeviceKind = 'climate';

/** 4.2.8: callbacks that every device of the simulator has registered, besides one for each of its readings. */
export const CALLBACK_KEYS = ['uptime', 'rssi', 'config'] as const;

/** A push that the firmware of the simulator's devices treats as a question. */
export interface Question {
  /** The key of one of its callbacks. */
  readonly get: string;
  /** Comes back in the reply. */
  readonly id?: unknown;
}

/** Parses a pushed text as a JSON object. @returns an empty object if it is invalid */
function readObject(text: string): Record<string, unknown> {
  try {
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * 4.2.3, 6: what a device does with a pushed text is its firmware's affair. That of the simulator's
 * devices answers JSON with the key of a callback, `{"get":"temperature","id":7}`, by an upload.
 */
export function readQuestion(text: string): Question | undefined {
  const { get, id } = readObject(text);
  return typeof get === 'string' ? { get, id } : undefined;
}

/** What it uploads then: `{"reply":"temperature","value":24.1,"id":7}`; null if it has no such callback. */
export const replyTo = ({ get, id }: Question, value: unknown = null): object => ({
  ...{ reply: get, value },
  ...(id !== undefined && { id }),
});

/** Milliseconds from its answer to the push until the reply. */
export const REPLIES_AFTER = 100;

/** The longest time for which a push can order a device to be away, in seconds. */
const MAX_AWAY = 86_400;

/**
 * 4.2.3: JSON with a number of seconds lets a device of the simulator be away that long, from the moment at which it would
 * reply to a question. `{"sleep":10}`: it keeps its pins, and uploads as soon as it wakes. `{"unplug":10}`: it loses its power,
 * and boots with its pins low.
 * @returns undefined if it is no such order
 */
export function readAwayOrder(
  text: string,
): { kind: 'sleep' | 'unplug'; seconds: number } | undefined {
  const order = readObject(text);
  for (const kind of ['sleep', 'unplug'] as const) {
    const { [kind]: seconds } = order;
    if (typeof seconds === 'number' && seconds > 0 && seconds <= MAX_AWAY) return { kind, seconds };
  }
  return undefined;
}

/** Rule 3 of 4.2: a POST body is form-encoded; any other body with content is an illegal request. */
export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The longest request body, in bytes. A longer one is an illegal request. */
export const MAX_REQUEST_BODY = 64 * 1024 * 1024;

/** 4.2: how many parameters a request may have, in query and form together; more are an illegal request. */
export const MAX_PARAMETERS = 100;

// ---- Interface C

/** 6: the longest frame that an application may send, in bytes; a longer one closes the channel, 1009. */
export const MAX_PUSHED_FRAME = 16 * 1024 * 1024;

/** 6: a `msgpush` without valid Base64, a frame that is no JSON object and an unknown type are ignored. */
export const decodeBase64 = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
};

/** The code that closes the channels of a deleted application or device: policy violation. */
export const CLOSE_DELETED = 1008;

// ---- Interface A (2.6, 4.1)

/** 4.1: the limits and defaults of `page` (from 1) and `count`. Of `/up/messages` both are required. */
export const PAGING = { page: 1, count: 20, maxCount: 1000 } as const;

/** A part of a list of interface A. */
export interface ListPage {
  readonly page: number;
  readonly count: number;
  readonly total: number;
}

/** The envelope of `/devices`: the ids are the chip numbers, as strings. */
export const serverDevices = (devices: string[], page: ListPage): object => ({ ...page, devices });

/** The values of a device record. */
interface ServerDevice {
  readonly chipid: string;
  readonly name: string | number | null;
  readonly online: boolean;
  readonly disabled: boolean;
  readonly settings: { readonly vertype: number };
}

/** 2.6: the record of `/devices/:deviceid`. */
export const serverDevice = (device: ServerDevice, latest: string): object => ({
  deviceid: device.chipid,
  name: device.name,
  status: device.online ? 'online' : 'offline',
  disabled: device.disabled,
  vertype: device.settings.vertype,
  latest,
});

/** 2.6: the envelope of `/up/messages`; its records are as in `sync` (2.5). */
export const serverUploads = (messages: object[], page: ListPage): object => ({
  ...page,
  messages,
});

/** 4.1: the answer to both PUT calls. */
export const SERVER_OK = { msg: 'OK' } as const;

/**
 * What a PUT to `/devices/:deviceid` asks for (4.1): a string `data`, perhaps with a `format` (as
 * 4.2.3), is passed through; a `name` (string or null) renames, a boolean `disabled` disables or
 * re-enables. Undefined if it is neither or both.
 * A disabled device is not online, uploads nothing and answers nothing.
 */
export type ServerChange =
  | { kind: 'passthrough'; data: string; format: unknown }
  | { kind: 'update'; name?: string | null; note?: string; disabled?: boolean };

export function readServerChange(body: Record<string, unknown>): ServerChange | undefined {
  const { data, format, name, disabled } = body;
  if (data !== undefined) {
    if (typeof data !== 'string' || name !== undefined || disabled !== undefined) return undefined;
    return { kind: 'passthrough', data, format };
  }
  const change: ServerChange = { kind: 'update' };
  if (typeof name === 'string' || name === null) change.name = name;
  else if (name !== undefined) return undefined;
  if (typeof disabled === 'boolean') change.disabled = disabled;
  else if (disabled !== undefined) return undefined;
  return change.name === undefined && change.disabled === undefined ? undefined : change;
}

// ---- The dialect `public-2016`, where it is not known how that server behaves

/** The application's key by default: keys of that server are 32 lowercase hexadecimal digits. */
export const PUBLIC_APPKEY = 'c0ffee0123456789abcdef0123456789';

/** How many uploads are kept of each device by default; that server keeps all of them. */
export const PUBLIC_HISTORY_LIMIT = 1_000_000;

/**
 * Texts of refusals that are known by their status alone. The server's own are Chinese; these are not its
 * words, so that no client learns them by heart.
 */
export const PUBLIC_TEXTS = {
  badDevice: '芯片号不是整数（模拟器）',
  badMessage: '消息内容无法解析（模拟器）',
  badFormat: '不支持的消息格式（模拟器）',
  longCommand: 'AT 指令超过 64 字节时不能包含换行（模拟器）',
  empty: '消息内容为空（模拟器）',
  noKey: '缺少 key（模拟器）',
  noHistory: 'no such device (simulator)',
  badDate: 'no such date (simulator)',
  away: '设备未连接（模拟器）',
  silent: '设备没有应答（模拟器）',
  nobodyOnline: '没有在线设备（模拟器）',
  noGateway: '网关没有应答（模拟器）',
} as const;

/** The label of every push in the history; that it is Chinese is known. */
export const PUBLIC_PUSH_LABEL = '推送（模拟器）';

/** The zone of `latest`, the zone of a process of the server: open. */
export const LATEST_ZONE = SERVER_ZONE;

/** What a pin answers that the firmware does not have, such as 6: a result other than U+0000. */
export const PUBLIC_NO_PIN = '\u0001';

/** A callback that is not registered answers without a byte. */
export const PUBLIC_NO_CALLBACK = '';

/**
 * A callback has to return a string. Those of the simulator's devices return one as it is, and anything else
 * as JSON text.
 */
export const callbackText = (value: unknown): string =>
  typeof value === 'string' ? value : toJson(value);

/** The code that closes a channel that a newer one of its device replaces: normal closure. */
export const CLOSE_REPLACED = 1000;

/**
 * A push over a channel or interface A is in the history if the device was connected, like one over
 * interface B that was answered; a push to all is in the history of no device.
 */
export const publicKeepsPush = (via: string, answered: boolean): boolean =>
  via !== 'app-push' && answered;

/** Interface A answers 404 for an id that it does not know, a channel 400, as interface B does. */
export const PUBLIC_NO_ID = 'no such id (simulator)';

/** The values of a device record of interface A (row 22 of docs/use/known-service.md); the types of its fields are open. */
interface PublicServerDevice extends ServerDevice {
  readonly id: number;
  readonly note: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly uploads: readonly unknown[];
  readonly pushes: readonly unknown[];
}

/** An entry of the list of devices: `stat` is `OK` or `DISABLED`, a chip number a string. */
export const publicServerEntry = (device: PublicServerDevice, latest: string): object => ({
  id: device.id,
  chipid: device.chipid,
  name: device.name ?? '',
  note: device.note,
  create_at: serverTime(device.createdAt, 0),
  latest,
  stat: device.disabled ? 'DISABLED' : 'OK',
  online: device.online,
  regist: true,
  addr: '127.0.0.1',
});

/** The record of one device: the entry, and what its firmware tells of itself. */
export const publicServerRecord = (
  device: PublicServerDevice,
  latest: string,
  appName: string,
): object => ({
  ...publicServerEntry(device, latest),
  rssi: -60,
  heap: 32_768,
  flash: 4_194_304,
  firmware: 'simulator',
  version: String(device.settings.vertype),
  latest_ipaddr: '127.0.0.1',
  app_name: appName,
  up_datas: device.uploads.length,
  down_datas: device.pushes.length,
});

/**
 * What a body of interface A asks for: `name`, `note` and `stat` change a device, `data` alone is passed
 * through, as the service's document has it on the same path (4.1).
 */
export function readPublicServerChange(body: Record<string, unknown>): ServerChange | undefined {
  const { data, name, note, stat } = body;
  if (data !== undefined) {
    const others = [name, note, stat].some((value) => value !== undefined);
    return typeof data === 'string' && !others
      ? { kind: 'passthrough', data, format: body['format'] }
      : undefined;
  }
  const change: ServerChange = { kind: 'update' };
  if (name !== undefined && typeof name !== 'string') return undefined;
  if (note !== undefined && typeof note !== 'string') return undefined;
  if (stat !== undefined && stat !== 'OK' && stat !== 'DISABLED') return undefined;
  if (name !== undefined) change.name = name;
  if (note !== undefined) change.note = note;
  if (stat !== undefined) change.disabled = stat === 'DISABLED';
  return Object.keys(change).length === 1 ? undefined : change;
}

/** What `{data_type, msgtype, data}` asks for; a `data_type` that is the name of a format is that format. */
export function readPublicServerMessage(body: Record<string, unknown>): ServerChange | undefined {
  const { data, data_type: type } = body;
  if (typeof data !== 'string') return undefined;
  const named = String(type).toUpperCase();
  return { kind: 'passthrough', data, format: PUSH_FORMATS.find((format) => format === named) };
}
