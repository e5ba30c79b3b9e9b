import { isUtf8 } from 'node:buffer';
import { signOpenApi, type Params } from '../api/signing';
import type { PushFormat } from '../types';
import {
  bytesAsText,
  callbackText,
  LATEST_ZONE,
  PUBLIC_NO_CALLBACK,
  PUBLIC_NO_ID,
  PUBLIC_NO_PIN,
  PUBLIC_PUSH_LABEL,
  PUBLIC_TEXTS,
  publicKeepsPush,
  publicServerEntry,
  publicServerRecord,
  readPublicServerChange,
  readPublicServerMessage,
  SERVER_ZONE,
} from './assumptions';
import { badRequest, isInteger, notFound, RawBody, Refusal } from './http';
import { decodeGbk, encodeGbk, serverTime, startOfDay } from './encoding';
import { decoded, formatOf, type Dialect, type Push, type Signed, type State } from './dialect';

// Rows are rows of docs/use/known-service.md. "S, read only": the
// server's published source was read for it, and nobody has seen it run.

const HTML = 'text/html; charset=utf-8';
const UTC = 0;

/** A refusal with a page of HTML, as a server's framework makes it. */
const page = (status: number, title: string): Refusal =>
  new Refusal(status, title, {}, new RawBody(`<!doctype html><title>${title}</title>`, HTML));

/** Row 1, in the order of the checks (S, read only). D says 401. */
function checkSign(state: State, { method, params }: Signed): void {
  const { appid, appkey, timestampWindow, now } = state.settings;
  const { appid: given, timestamp, sign } = params;
  if (!given) throw badRequest('设备类别APP错误');
  if (!isInteger(given) || Number(given) === 0) throw badRequest('设备类别APP格式错误');
  if (!timestamp) throw badRequest('时间戳参数错误');
  if (!isInteger(timestamp)) throw badRequest('时间戳必须为整数');
  // Row 19b: a timestamp ahead is not checked, so that one in milliseconds is never too old.
  const behind = Math.floor(now() / 1000) - Number(timestamp);
  if (behind >= timestampWindow) throw badRequest('时间间隔大于一小时');
  if (!sign) throw badRequest('签名错误');
  if (given !== appid || state.isDeleted) throw badRequest('设备类别不存在');
  // Row 1b.
  if (sign !== signOpenApi(method, params, appkey.toLowerCase())) throw badRequest('签名不正确');
}

/** Row 2. */
const noDevice = (): Refusal => badRequest('无设备对应操作权限！');

/** The longest AT command that may contain a line end, in bytes. */
const MAX_AT_WITH_LINES = 64;

/** The refusals of a push to all are 200 (row 8), refusals of a push to one device 400 (S, read only). */
const refusedPush = (via: Push['via'], msg: string): Refusal =>
  new Refusal(via === 'app-push' ? 200 : 400, msg);

/** Row 6. */
function pushBytes(message: string, format: PushFormat, via: Push['via']): Buffer {
  if (format === 'HEX' || format === 'B64') {
    const bytes = decoded(message, format);
    if (bytes) return bytes;
    throw refusedPush(via, PUBLIC_TEXTS.badMessage);
  }
  const text = encodeGbk(message);
  if (!text) throw page(500, 'Server Error');
  if (format !== 'AT') return text;
  if (text.length > MAX_AT_WITH_LINES && /[\r\n]/.test(message)) {
    throw refusedPush(via, PUBLIC_TEXTS.longCommand);
  }
  return Buffer.concat([text, Buffer.from('\r\n')]);
}

/** Row 8. A format that is missing is a wrong one, and one device may get an empty message (S, read only). */
function readPush({ message, format: name }: Params, via: Push['via']): Push {
  if (via === 'app-push' && !message) throw new Refusal(403, PUBLIC_TEXTS.empty);
  if (message === undefined) throw page(500, 'Server Error');
  const format = formatOf(name);
  if (!format || (via === 'app-push' && format === 'B64')) {
    throw refusedPush(via, PUBLIC_TEXTS.badFormat);
  }
  return { via, format, message, bytes: pushBytes(message, format, via) };
}

/** Row 7: a device that is away is answered for at once; the others after the wait (S, read only). */
const unanswered: Dialect['unanswered'] = (_device, wait, why) => {
  if (why === 'silent') return new Refusal(504, PUBLIC_TEXTS.silent);
  return new Refusal(wait === 'push' ? 504 : 502, PUBLIC_TEXTS.away);
};

/** Row 9: the pins in the order of their characters. */
const PIN_ORDER = [0, 1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15];
const LOW = '\u0000';
const HIGH = '\u0001';
/** Row 10: what a device returns that has done it. */
const DONE = '\u0000';

/** Row 16: each byte without a leading zero, and without the white space at both ends. */
function hexOf(bytes: Buffer): string {
  const text = bytes.toString('latin1').replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');
  return Array.from(Buffer.from(text, 'latin1'), (byte) => byte.toString(16)).join('');
}

/** Answers as the public server of 2016 does. */
export const publicDialect: Dialect = {
  knowsWhoIsAway: true,

  checkSign,
  noPath: () => page(404, 'Not Found'),
  notInteger: (_name, isInPath) =>
    isInPath ? page(404, 'Not Found') : badRequest(PUBLIC_TEXTS.badDevice),
  noDevice,
  // Row 2; push_messages/ answers so, too (S, read only).
  noHistory: () => new Refusal(404, '', {}, { MSG: PUBLIC_TEXTS.noHistory }),

  // Row 5.
  latest: (device) => serverTime(device.connectedAt, LATEST_ZONE),
  checkHistory(uploads) {
    // Row 14 (S, read only).
    if (!uploads.every(({ bytes }) => isUtf8(bytes))) throw page(500, 'Server Error');
  },
  readSpan(begin, end) {
    // Row 15: from midnight to midnight, by the time of the device's clock.
    const from = startOfDay(begin, SERVER_ZONE);
    const to = startOfDay(end, SERVER_ZONE);
    if (from === undefined || to === undefined) throw badRequest(PUBLIC_TEXTS.badDate);
    return ({ made }) => from <= made && made <= to;
  },
  pushedAs: ({ bytes }) => ({ body: hexOf(bytes), msgtype: PUBLIC_PUSH_LABEL }),
  keepsPush: publicKeepsPush,

  readPush,
  messageBytes: (message, format) => pushBytes(message, format, 'server-api'),
  deviceText: decodeGbk,
  pushedToAll(reached) {
    // Row 8, spelled as that server does.
    if (reached > 0) return { msg: 'sucess' };
    throw new Refusal(502, PUBLIC_TEXTS.nobodyOnline);
  },

  unanswered,
  refreshed(device, why) {
    if (why === 'away') return { status: 'offline', msg: 'OK' };
    throw unanswered(device, 'refresh', why);
  },
  // Row 11.
  callbackAnswer: (_device, callback) =>
    new RawBody(callback ? callbackText(callback.value) : PUBLIC_NO_CALLBACK, HTML),
  readKey({ key }) {
    if (!key) throw badRequest(PUBLIC_TEXTS.noKey);
    return key;
  },
  gpioResult: (levels) => PIN_ORDER.map((pin) => (levels[pin] === '1' ? HIGH : LOW)).join(''),
  readPin(text, edge) {
    // Only 0 and 1 are in the pattern of the path (S, read only).
    if (!isInteger(text) || (edge !== '0' && edge !== '1')) throw page(404, 'Not Found');
    const level = edge === '1' ? 1 : 0;
    // The pin is sent as one byte (S, read only).
    if (Number(text) > 0xff) throw page(500, 'Server Error');
    const pin = PIN_ORDER.find((known) => known === Number(text));
    return { pin, level, result: pin === undefined ? PUBLIC_NO_PIN : DONE };
  },
  rebooted: DONE,

  server: {
    // Row 25.
    posts: true,
    // Row 21: the id of a device is not its chip number.
    find({ devices }, deviceid) {
      for (const device of devices.values()) if (String(device.id) === deviceid) return device;
      throw notFound(PUBLIC_NO_ID);
    },
    // Rows 21 and 22.
    devices: (_state, devices, part) => ({
      ...part,
      devices: devices.map((device) => publicServerEntry(device, publicDialect.latest(device))),
    }),
    device: ({ settings }, device) =>
      publicServerRecord(device, publicDialect.latest(device), settings.appName),
    // Row 24.
    uploads: (_state, uploads, part) => ({
      ...part,
      msgs: uploads.map(({ chipid, bytes, at }) => ({
        chipid,
        data: bytesAsText(bytes),
        created_at: serverTime(at, UTC),
      })),
    }),
    readChange: (method, body) =>
      method === 'POST' ? readPublicServerMessage(body) : readPublicServerChange(body),
  },
};
