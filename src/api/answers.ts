import type { Shape } from '../http/answer';
import type { Call, Refusal, StatusMeaning } from '../http/failures';
import type { AppRecord, DeviceRecord, RefreshAnswer, ResultAnswer } from '../types';
import { isObject } from '../util/json';
import { show } from '../util/show';

const isObjects = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);

export const anyShape: Shape<unknown> = {
  name: 'JSON',
  is: (value): value is unknown => value !== undefined,
};

/** An object whose fields are assumed to be as the service's document describes them, without a check of each. */
export const objectOf = <T extends object>(): Shape<T> => ({
  name: 'a JSON object',
  is: (value): value is T => isObject(value),
});

/** An array of anything: the caller checks each item. */
export const anyArray: Shape<unknown[]> = {
  name: 'an array',
  is: (value): value is unknown[] => Array.isArray(value),
};

export const listOf = <T extends object>(): Shape<T[]> => ({
  name: 'an array of JSON objects',
  is: (value): value is T[] => isObjects(value),
});

/** Of a list of devices, some records may be unusable: its readers leave them out. */
export const deviceList: Shape<DeviceRecord[]> = {
  name: 'an array of JSON objects',
  is: (value): value is DeviceRecord[] =>
    Array.isArray(value) && (value.length === 0 || value.some(isObject)),
};

export const appShape: Shape<AppRecord> = {
  name: 'a JSON object with an array "online"',
  is: (value): value is AppRecord => isObject(value) && isObjects(value['online']),
};

/** Without a status it would be read as an offline device. */
export const refreshShape: Shape<RefreshAnswer> = {
  name: 'a JSON object with a string "status"',
  is: (value): value is RefreshAnswer => isObject(value) && typeof value['status'] === 'string',
};

export const resultShape: Shape<ResultAnswer> = {
  name: 'a JSON object with a string "result"',
  is: (value): value is ResultAnswer => isObject(value) && typeof value['result'] === 'string',
};

/** Endpoints 3 and 4 answer a push that succeeds with `OK` or `success`; the public server of 2016 writes `sucess`. */
export function pushRefusal({ msg }: { msg?: unknown }): Refusal | undefined {
  if (msg === undefined) return { what: 'an object that has no msg' };
  if (typeof msg !== 'string') return { what: `a msg that is not text but ${show(msg)}` };
  return /^(ok|succ?ess)$/i.test(msg) ? undefined : { what: 'the msg', said: msg };
}

/**
 * The `result` of a command is not shown (section 4.2, endpoints 10 and 12). The public server of 2016 puts the byte there
 * that the device returned, and 0 means that the command is done.
 */
export function resultWarning(call: Call): (answer: ResultAnswer) => string | undefined {
  return ({ result }) => {
    if (result === '\0' || !/^[\p{Cc}\u00a0-\u00ff]$/u.test(result)) return undefined;
    const code = result.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `${call.name} may have failed: the result is the character U+${code}, and the public server of 2016 answers U+0000 when a command is done.`;
  };
}

const SIGN =
  "The signature is refused. Check the app key of the configuration, and that no proxy changes the request's query.";
const APPLICATION =
  'The application is unknown. Check the application id of the configuration; the application may have been deleted.';
const CLOCK =
  "This machine's clock is an hour or more behind the service's. Set the clock of this machine.";
const DEVICE =
  'The device does not belong to the application. Check the number of the device, and the application id of the configuration.';
const APPID = 'The service found no valid application id in the request.';
const TIMESTAMP = 'The service found no valid timestamp in the request.';

/**
 * The texts with which the public server of 2016 refuses a request as 400, and what they mean here. They are the texts of the
 * source that its vendor published for people who host the server themselves (ESPUSH, the views of its open API, as of
 * 2016). The service's document has 401 and 404 for the first five (section 7).
 */
const REFUSALS: ReadonlyMap<string, StatusMeaning> = new Map<string, StatusMeaning>([
  ['签名不正确', ['UNAUTHORIZED', SIGN]],
  ['签名错误', ['UNAUTHORIZED', SIGN]],
  ['设备类别不存在', ['UNAUTHORIZED', APPLICATION]],
  ['时间间隔大于一小时', ['UNAUTHORIZED', CLOCK]],
  ['无设备对应操作权限', ['NOT_FOUND', DEVICE]],
  ['设备类别APP错误', ['BAD_REQUEST', APPID]],
  ['设备类别APP格式错误', ['BAD_REQUEST', APPID]],
  ['时间戳参数错误', ['BAD_REQUEST', TIMESTAMP]],
  ['时间戳必须为整数', ['BAD_REQUEST', TIMESTAMP]],
]);

/** What ends a text without being part of it. */
const ENDING = /[\s!！.。]+$/;

/** What a status that is not a success means, if the service's words say more than the status. */
export function refusalMeaning(
  statusCode: number,
  said: string | undefined,
): StatusMeaning | undefined {
  if (statusCode !== 400 || said === undefined) return undefined;
  return REFUSALS.get(said.trim().replace(ENDING, ''));
}

const CALLBACK =
  'Check the key of the callback, the number of the device, and the application id of the configuration: one of them is unknown to the service.';

/** The same for the value of a callback: what is unknown may be the key (section 4.2, endpoint 8). */
export const callbackMeaning = (
  statusCode: number,
  said: string | undefined,
): StatusMeaning | undefined =>
  statusCode === 404 ? ['NOT_FOUND', CALLBACK] : refusalMeaning(statusCode, said);

/** The same for a push: the public server of 2016 answers 403 to one without a message. */
export const pushMeaning =
  (message: string) =>
  (statusCode: number, said: string | undefined): StatusMeaning | undefined =>
    statusCode === 403 && message === ''
      ? ['BAD_REQUEST', 'The message is empty: the service may take no empty push.']
      : refusalMeaning(statusCode, said);
