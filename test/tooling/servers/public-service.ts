import {
  httpService,
  json,
  raw,
  type HttpService,
  type Received,
  type Script,
} from './http-service';
import { signByHand } from '../sign-by-hand';

/** The device of the service below that is connected, and one that is not. */
export const CONNECTED = '8454703';
export const GONE = '8454704';

export const APPID = '1234';
export const APPKEY = '25b28f0ffb9711e4a96d446d579b49a1';

/** Its pins, in the order in which it lists their levels. */
export const PUBLIC_PINS = [0, 1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15];

/** An interface B on loopback that answers as the public server of 2016 does. */
export interface PublicService extends HttpService {
  /** The pins that are high. */
  high: Set<number>;
  /** The byte that the device returns to a command. */
  result: number;
  /** The bytes that the callback of a key returns. */
  callbacks: Map<string, string | Buffer>;
  /** Whether the gateway answers the list of devices. */
  gateway: boolean;
}

const HTML = { 'content-type': 'text/html; charset=utf-8' };
const say = (msg: string, status = 200): Script => json({ msg }, status);
const refuse = (msg: string): Script => say(msg, 400);
const notOwned = refuse('无设备对应操作权限！');

/** All parameters, of the query and of a form. */
const parameters = ({ search, body }: Received): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search), ...new URLSearchParams(body)]);

/** Why a signature is refused. @param now of its clock */
export function refusalOf(
  method: string,
  { appid, sign, timestamp, ...rest }: Record<string, string>,
  now = Date.now(),
): string | undefined {
  if (appid === undefined) return '设备类别APP错误';
  if (!/^\d+$/.test(appid)) return '设备类别APP格式错误';
  if (timestamp === undefined) return '时间戳参数错误';
  if (!/^\d+$/.test(timestamp)) return '时间戳必须为整数';
  if (now / 1000 - Number(timestamp.slice(0, 10)) >= 3600) return '时间间隔大于一小时';
  if (appid !== APPID) return '设备类别不存在';
  if (sign === undefined) return '签名错误';
  const right = signByHand(method, { ...rest, appid, timestamp }, APPKEY);
  return sign === right ? undefined : '签名不正确';
}

function push({ message, format }: Record<string, string>, done: string): Script {
  if (!message) return say('消息不能为空', 403);
  if (!['MSG', 'HEX', 'AT', 'LUA'].includes(format ?? '')) return say('格式错误');
  return say(done);
}

const isKnown = (chipid: string | undefined): boolean => chipid === CONNECTED || chipid === GONE;

/** Answers the calls to one device. A device that is not connected is answered at once. */
function device(
  service: PublicService,
  [call = '', ...path]: string[],
  given: Record<string, string>,
): Script {
  const chipid = path.find((part) => /^\d+$/.test(part));
  if (!isKnown(chipid)) return notOwned;
  const isConnected = chipid === CONNECTED;
  if (call === 'manual_refresh') {
    return json({ status: isConnected ? 'online' : 'offline', msg: 'OK' });
  }
  if (!isConnected) return say('设备不在线', 502);
  switch (call) {
    case 'gpio_status': {
      const levels = PUBLIC_PINS.map((pin) => (service.high.has(pin) ? '\u0001' : '\0'));
      return json({ result: levels.join('') });
    }
    case 'rt_status':
      return raw(service.callbacks.get(given['key'] ?? '') ?? '', 200, HTML);
    default:
      return json({ result: String.fromCharCode(service.result) });
  }
}

function answer(service: PublicService, request: Received): Script {
  const given = parameters(request);
  const refused = refusalOf(request.method, given);
  if (refused) return refuse(refused);
  const path = request.path.replace(/^\/openapi\/|\/$/g, '').split('/');
  switch (path[0]) {
    case 'devices':
      if (path[1] !== 'lists') return raw('<h1>Not Found</h1>', 404, HTML);
      if (!service.gateway) return say('网关错误');
      return json([{ chipid: Number(CONNECTED), latest: '2016-06-23 09:15:24' }]);
    case 'dev':
      if (!isKnown(given['devid'])) return notOwned;
      return given['devid'] === CONNECTED ? push(given, 'OK') : say('设备不在线', 504);
    case 'app':
      return push(given, 'sucess');
    case 'up_messages':
      return isKnown(path[2]) ? json([]) : json({ MSG: '无设备对应操作权限！' }, 404);
    default:
      return device(service, path, given);
  }
}

export async function publicService(): Promise<PublicService> {
  const script: Script = (response, request, count) =>
    answer(service, request)(response, request, count);
  const service: PublicService = Object.assign(await httpService(script), {
    high: new Set<number>(),
    result: 0,
    callbacks: new Map<string, string | Buffer>(),
    gateway: true,
  });
  return service;
}
