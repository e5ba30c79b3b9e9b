import { isUtf8 } from 'node:buffer';
import { signOpenApi } from '../protocol/signing';
import { PUSH_FORMATS, type PushFormat } from '../types';
import { encodeGbk } from '../util/gbk';
import type { Device } from './device';
import { decoded, DEFAULT_FORMAT, formatOf, type Dialect, type Push } from './document';
import { SERVER_ZONE, serverTime, startOfDay, toJson, trimmed } from './encoding';
import { badRequest, isInteger, notFound, RawBody, Refusal } from './http';

// What the public server of 2016 does differently. Rows are rows of docs/use/known-service.md. "S, read only": the server's
// published source was read for it, and nobody has seen it run. "Assumed": neither the document nor anything that is known
// of that server says it. A text with 模拟器 (simulator) stands for one of which only the status is known, so that no
// client learns it by heart.

const HTML = 'text/html; charset=utf-8';
const UTC = 0;

/** A refusal with a page of HTML, as a server's framework makes it. */
const page = (status: number, title: string): Refusal =>
  new Refusal(status, title, {}, new RawBody(`<!doctype html><title>${title}</title>`, HTML));

/** The refusals of a push to all are 200 (row 8), refusals of a push to one device 400 (S, read only). */
const refusedPush = (via: Push['via'], msg: string): Refusal =>
  new Refusal(via === 'app-push' ? 200 : 400, msg);

/** The longest AT command that may contain a line end, in bytes. */
const MAX_AT_WITH_LINES = 64;

/** Row 1, in the order of the checks (S, read only). D says 401. */
const checkSign: Dialect['checkSign'] = ({ settings }, { method, params }) => {
  const { appid, appkey, timestampWindow, now } = settings;
  const { appid: given, timestamp, sign } = params;
  if (!given) throw badRequest('设备类别APP错误');
  if (!isInteger(given) || Number(given) === 0) throw badRequest('设备类别APP格式错误');
  if (!timestamp) throw badRequest('时间戳参数错误');
  if (!isInteger(timestamp)) throw badRequest('时间戳必须为整数');
  // Row 19b: a timestamp ahead is not checked, so that one in milliseconds is never too old.
  const behind = Math.floor(now() / 1000) - Number(timestamp);
  if (behind >= timestampWindow) throw badRequest('时间间隔大于一小时');
  if (!sign) throw badRequest('签名错误');
  if (given !== appid) throw badRequest('设备类别不存在');
  // Row 1b.
  if (sign !== signOpenApi(method, params, appkey.toLowerCase())) throw badRequest('签名不正确');
};

const noPath = (): Refusal => page(404, 'Not Found');

/** Row 5. Assumed: in Beijing time. The zone is that of a process of the server. */
const latest = (device: Device): string => serverTime(device.connectedAt, SERVER_ZONE);

/** Row 6. */
function messageBytes(message: string, format: PushFormat, via: Push['via']): Buffer {
  if (format === 'HEX' || format === 'B64') {
    const bytes = decoded(message, format);
    if (bytes) return bytes;
    throw refusedPush(via, '消息内容无法解析（模拟器）');
  }
  const text = encodeGbk(message);
  if ('foreign' in text) throw page(500, 'Server Error');
  if (format !== 'AT') return text.bytes;
  if (text.bytes.length > MAX_AT_WITH_LINES && /[\r\n]/.test(message)) {
    throw refusedPush(via, 'AT 指令超过 64 字节时不能包含换行（模拟器）');
  }
  return Buffer.concat([text.bytes, Buffer.from('\r\n')]);
}

/** Row 9: the pins in the order of their characters. */
const PIN_ORDER = [0, 1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15];
const LOW = '\u0000';
const HIGH = '\u0001';
/** Row 10: what a device returns that has done it. */
const DONE = '\u0000';
/** Assumed: what a device returns for a pin that its firmware does not have, such as 6. */
const NO_PIN = '\u0001';

/** Row 21. Assumed: the types of the fields, and the values of `stat`. */
const serverEntry = (device: Device): object => ({
  id: device.id,
  chipid: device.chipid,
  name: device.name ?? '',
  note: device.note,
  create_at: serverTime(device.createdAt, UTC),
  latest: latest(device),
  stat: device.disabled ? 'DISABLED' : 'OK',
  online: device.online,
  regist: true,
  addr: '127.0.0.1',
});

const isTextIfAny = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string';

export const publicDialect: Dialect = {
  // Keys of that server are 32 lowercase hexadecimal digits.
  appkey: 'c0ffee0123456789abcdef0123456789',
  // Row 12.
  historyEncoding: 'tagged',
  // Row 1.
  timestampWindow: 3600,
  // Row 7: a device that is away is answered for at once.
  waits: { push: 50_000, call: 5000, refresh: 8000 },
  knowsWhoIsAway: true,
  // Row 3.
  devicesPath: 'lists',
  // Row 13.
  isNewestFirst: true,
  zone: UTC,

  checkSign,
  noPath,
  notInteger: (_name, isInPath) => (isInPath ? noPath() : badRequest('芯片号不是整数（模拟器）')),
  // Row 2; push_messages/ answers as up_messages/ (S, read only).
  noDevice: () => badRequest('无设备对应操作权限！'),
  noHistory: () => new Refusal(404, '', {}, { MSG: '没有设备（模拟器）' }),

  latest,
  checkHistory(uploads) {
    // Row 14 (S, read only).
    if (!uploads.every(({ bytes }) => isUtf8(bytes))) throw page(500, 'Server Error');
  },
  readSpan(begin, end) {
    // Row 15: from midnight to midnight, by the time of the device's clock.
    const from = startOfDay(begin);
    const to = startOfDay(end);
    if (from === undefined || to === undefined) throw badRequest('日期错误（模拟器）');
    return ({ made }) => from <= made && made <= to;
  },
  pushedAs({ bytes }) {
    // Row 16: each byte without a leading zero, and without the white space at both ends.
    const kept = Buffer.from(trimmed(bytes.toString('latin1')), 'latin1');
    const body = Array.from(kept, (byte) => byte.toString(16)).join('');
    return { body, msgtype: '推送（模拟器）' };
  },
  // Assumed: a push over a channel or interface A is in the history if the device was connected, like one over
  // interface B that was answered; a push to all is in the history of no device.
  keepsPush: (via, isAnswered) => via !== 'app-push' && isAnswered,

  readPush({ message, format: name }, via) {
    // Row 8. A format that is missing is a wrong one, and one device may get an empty message (S, read only).
    if (via === 'app-push' && !message) throw new Refusal(403, '消息内容为空（模拟器）');
    if (message === undefined) throw page(500, 'Server Error');
    const format = formatOf(name);
    if (!format || (via === 'app-push' && format === 'B64')) {
      throw refusedPush(via, '不支持的消息格式（模拟器）');
    }
    return { via, format, message, bytes: messageBytes(message, format, via) };
  },
  messageBytes,
  deviceText: (bytes) => new TextDecoder('gbk').decode(bytes),
  pushedToAll(reached) {
    // Row 8, spelled as that server does.
    if (reached > 0) return { msg: 'sucess' };
    throw new Refusal(502, '没有在线设备（模拟器）');
  },

  unanswered(_chipid, wait, why) {
    // Row 7; a device that is connected and silent is 504 (S, read only).
    if (why === 'silent') return new Refusal(504, '设备没有应答（模拟器）');
    if (wait === 'refresh') return new Refusal(200, '', {}, { status: 'offline', msg: 'OK' });
    return new Refusal(wait === 'push' ? 504 : 502, '设备未连接（模拟器）');
  },
  callbackAnswer(_chipid, callback) {
    // Row 11. Assumed: a callback that is not registered answers without a byte; a callback has to return a string, and
    // those of the simulator's devices return anything else as JSON.
    const value = callback ? callback.value : '';
    return new RawBody(typeof value === 'string' ? value : toJson(value), HTML);
  },
  gpioResult: (levels) => PIN_ORDER.map((pin) => (levels[pin] === '1' ? HIGH : LOW)).join(''),
  readPin(text, edge) {
    // Only 0 and 1 are in the pattern of the path (S, read only).
    if (!isInteger(text) || (edge !== '0' && edge !== '1')) throw noPath();
    // The pin is sent as one byte (S, read only).
    if (Number(text) > 0xff) throw page(500, 'Server Error');
    const pin = PIN_ORDER.find((known) => known === Number(text));
    return { pin, level: edge === '1' ? 1 : 0, result: pin === undefined ? NO_PIN : DONE };
  },
  rebooted: DONE,

  // Row 25.
  posts: true,
  serverDevice({ devices }, deviceid) {
    // Row 21: the id of a device is not its chip number.
    for (const device of devices.values()) if (String(device.id) === deviceid) return device;
    throw notFound('没有设备（模拟器）');
  },
  serverList: (devices, part) => ({ ...part, devices: devices.map(serverEntry) }),
  // Row 22. Assumed: the values of what the firmware tells of itself.
  serverRecord: (device, { appName }) => ({
    ...serverEntry(device),
    rssi: -60,
    heap: 32_768,
    flash: 4_194_304,
    firmware: 'simulator',
    version: '1',
    latest_ipaddr: '127.0.0.1',
    app_name: appName,
    up_datas: device.uploads.length,
    down_datas: device.pushes.length,
  }),
  serverUploads(uploads, part) {
    // Row 24.
    const msgs = uploads.map(({ chipid, bytes, at }) => ({
      chipid,
      data: bytes.toString('utf8'),
      created_at: serverTime(at, UTC),
    }));
    return { ...part, msgs };
  },
  readChange(method, body) {
    // Rows 23 and 25. `data` alone is passed through by PUT, as the service's document has it on the same path (4.1).
    // Assumed: a `data_type` of a POST that is the name of a format is that format.
    const { data, name, note, stat, format, data_type: type } = body;
    if (!isTextIfAny(name) || !isTextIfAny(note)) return undefined;
    if (stat !== undefined && stat !== 'OK' && stat !== 'DISABLED') return undefined;
    const isUpdate = [name, note, stat].some((value) => value !== undefined);
    if (data === undefined && method === 'PUT' && isUpdate) {
      return { name, note, disabled: stat && stat === 'DISABLED' };
    }
    if (typeof data !== 'string' || isUpdate) return undefined;
    const wanted = method === 'POST' ? String(type).toUpperCase() : format;
    return { data, format: PUSH_FORMATS.find((each) => each === wanted) ?? DEFAULT_FORMAT };
  },
};
