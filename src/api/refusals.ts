import type { StatusMeaning } from '../http/failures';

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
 * The texts with which the public server of 2016 refuses a request as 400, and what they mean here. They are those of the
 * source that its vendor published for people who host the server themselves (ESPUSH, the views of its open API, as of
 * 2016). The service's document has 401 and 404 for the first five (section 7).
 */
export const REFUSALS: ReadonlyMap<string, StatusMeaning> = new Map<string, StatusMeaning>([
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

/** The same for a push: the public server of 2016 answers 403 to one without a message. */
export const pushMeaning =
  (message: string) =>
  (statusCode: number, said: string | undefined): StatusMeaning | undefined =>
    statusCode === 403 && message === ''
      ? ['BAD_REQUEST', 'The message is empty: the service may take no empty push.']
      : refusalMeaning(statusCode, said);
