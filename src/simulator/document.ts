import { signOpenApi, type Params } from '../api/signing';
import { PUSH_FORMATS, type PushFormat } from '../types';
import {
  DEFAULT_FORMAT,
  isMessage,
  isSeconds,
  isSpan,
  PINS,
  pushAsText,
  readServerChange,
  REFRESH_OFFLINE,
  RESULT_OK,
  SERVER_ZONE,
  serverDevice,
  serverDevices,
  serverUploads,
  STATUS,
  timestampMs,
} from './assumptions';
import { syncRecord } from './history';
import { badRequest, integer, notFound, Refusal, requireParam } from './http';
import { serverDay, serverTime, startOfDay } from './encoding';
import { decoded, formatOf, type Dialect, type Signed, type State } from './dialect';

const SIGN = /^[0-9a-f]{32}$/;

/** 400 if a parameter is missing or invalid, 401 if the sign is wrong or the application gone (section 7). */
function checkSign(state: State, { method, query, params, of }: Signed): void {
  const { appid, appkey, timestampWindow, unknownApp, now } = state.settings;
  // The common parameters have to be in the URL (section 4.2, rule 2).
  const given = integer('appid', requireParam(query, 'appid'));
  const timestamp = integer('timestamp', requireParam(query, 'timestamp'));
  const sign = requireParam(query, 'sign');
  if (of === 'open-api' && !isSeconds(timestamp)) {
    throw badRequest('timestamp must be Unix seconds');
  }
  if (given !== appid) throw new Refusal(unknownApp, 'there is no such application');
  if (state.isDeleted) throw new Refusal(401, 'the application has been deleted');
  if (!SIGN.test(sign)) {
    throw new Refusal(STATUS.malformedSign, 'sign must be 32 lowercase hexadecimal characters');
  }
  if (sign !== signOpenApi(method, params, appkey)) throw new Refusal(401, 'sign is wrong');
  if (Math.abs(timestampMs(timestamp) - now()) > timestampWindow * 1000) {
    throw new Refusal(STATUS.clockOff, 'timestamp is too far from the time of the server');
  }
}

const noDevice = (chipid: string): Refusal => notFound(`there is no device ${chipid.slice(0, 40)}`);

function messageBytes(message: string, format: PushFormat): Buffer {
  if (format !== 'HEX' && format !== 'B64') return Buffer.from(message, 'utf8');
  const bytes = decoded(message, format);
  if (bytes) return bytes;
  throw badRequest(
    format === 'HEX' ? 'message is not pairs of hexadecimal digits' : 'message is not Base64',
  );
}

function readFormat(name: unknown): PushFormat {
  if (name === undefined) return DEFAULT_FORMAT;
  const format = formatOf(name);
  if (!format) throw badRequest(`format must be one of ${PUSH_FORMATS.join(', ')}`);
  return format;
}

/** Answers as the service's document says; what it leaves open is in assumptions.ts. */
export const documentDialect: Dialect = {
  knowsWhoIsAway: false,

  checkSign,
  noPath: () => notFound('there is nothing at this path'),
  notInteger: (name) => badRequest(`${name} must be an integer`),
  noDevice,
  noHistory: noDevice,

  latest: (device) => serverTime(device.lastSeen, SERVER_ZONE),
  checkHistory: () => undefined,
  readSpan(begin, end) {
    if ([begin, end].some((day) => startOfDay(day, SERVER_ZONE) === undefined)) {
      throw badRequest('dates must be YYYYMMDD');
    }
    if (!isSpan(begin, end)) throw badRequest('begin_date is after end_date');
    return ({ at }) => {
      const day = serverDay(at, SERVER_ZONE);
      return begin <= day && day <= end;
    };
  },
  pushedAs: ({ bytes, message, format }, encoding) => ({
    body: encoding === 'base64' ? bytes.toString('base64') : pushAsText(message),
    msgtype: format,
  }),
  keepsPush: () => true,

  readPush({ message, format: name }, via) {
    if (!isMessage(message)) throw badRequest('parameter message is missing');
    const format = readFormat(name);
    return { via, format, message, bytes: messageBytes(message, format) };
  },
  messageBytes,
  deviceText: (bytes) => bytes.toString('utf8'),
  pushedToAll: () => ({ msg: 'success' }),

  unanswered: ({ chipid }) =>
    new Refusal(STATUS.noAnswer, `device ${chipid} did not answer in time`),
  refreshed: () => REFRESH_OFFLINE,
  callbackAnswer({ chipid }, callback) {
    if (callback) return callback.value;
    throw new Refusal(STATUS.unknownCallback, `device ${chipid} has no such callback`);
  },
  readKey: (params: Params) => requireParam(params, 'key'),
  gpioResult: (levels) => levels,
  readPin(text, edge) {
    const pin = Number(integer('pin', text));
    if (pin >= PINS) throw badRequest(`pin must be less than ${PINS}`);
    if (edge !== '0' && edge !== '1') throw badRequest('edge must be 0 or 1');
    return { pin, level: edge === '1' ? 1 : 0, result: RESULT_OK };
  },
  rebooted: RESULT_OK,

  server: {
    posts: false,
    find({ devices }, deviceid) {
      const device = devices.get(deviceid);
      if (!device) throw noDevice(deviceid);
      return device;
    },
    devices: (_service, devices, page) =>
      serverDevices(
        devices.map(({ chipid }) => chipid),
        page,
      ),
    device: (_service, device) => serverDevice(device, serverTime(device.lastSeen, SERVER_ZONE)),
    uploads: ({ settings }, uploads, page) =>
      serverUploads(
        uploads.map((upload) => syncRecord(upload, settings)),
        page,
      ),
    readChange: (_method, body) => {
      const change = readServerChange(body);
      if (change?.kind !== 'passthrough') return change;
      return { ...change, format: readFormat(change.format) };
    },
  },
};
