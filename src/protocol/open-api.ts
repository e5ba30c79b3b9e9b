import type {
  AppRecord,
  CommandWhat,
  DeviceRecord,
  PushAnswer,
  RefreshAnswer,
  ResultAnswer,
  PushFormat,
  PushRecord,
  SyncRecord,
  UploadRecord,
  ValueDatatype,
} from '../types';
import { notConfigured } from '../errors';
import { signedOpenApiRequest, type OpenApiIdentity, type Params } from './signing';
import { decodeValue } from '../util/decode';
import { isObject } from '../util/json';
import { deviceTitle, show } from '../util/show';
import type { Call, CallSpec, Refusal, Shape, StatusMeaning } from './call-spec';

/** What a call needs of the open API. @throws DeviceCloudError `NOT_CONFIGURED` without the application's id and key */
export function requireOpenApi<T>(parts: T | undefined): T {
  if (parts !== undefined) return parts;
  throw notConfigured(
    'The open API needs the appid and the app key. Set them in the configuration.',
  );
}

const isObjects = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);

export const anyShape: Shape<unknown> = {
  name: 'JSON',
  is: (value): value is unknown => value !== undefined,
};

/** An object whose fields are assumed to be as the service's document describes them, without a check of each. */
const objectOf = <T extends object>(): Shape<T> => ({
  name: 'a JSON object',
  is: (value): value is T => isObject(value),
});

/** An array of anything: the caller checks each item. */
const anyArray: Shape<unknown[]> = {
  name: 'an array',
  is: (value): value is unknown[] => Array.isArray(value),
};

const listOf = <T extends object>(): Shape<T[]> => ({
  name: 'an array of JSON objects',
  is: (value): value is T[] => isObjects(value),
});

/** Of a list of devices, some records may be unusable: its readers leave them out. */
const deviceList: Shape<DeviceRecord[]> = {
  name: 'an array of JSON objects',
  is: (value): value is DeviceRecord[] =>
    Array.isArray(value) && (value.length === 0 || value.some(isObject)),
};

const appShape: Shape<AppRecord> = {
  name: 'a JSON object with an array "online"',
  is: (value): value is AppRecord => isObject(value) && isObjects(value['online']),
};

/** Without a status it would be read as an offline device. */
const refreshShape: Shape<RefreshAnswer> = {
  name: 'a JSON object with a string "status"',
  is: (value): value is RefreshAnswer => isObject(value) && typeof value['status'] === 'string',
};

const resultShape: Shape<ResultAnswer> = {
  name: 'a JSON object with a string "result"',
  is: (value): value is ResultAnswer => isObject(value) && typeof value['result'] === 'string',
};

/** Endpoints 3 and 4 answer a push that succeeds with `OK` or `success`; the public server of 2016 writes `sucess`. */
function pushRefusal({ msg }: { msg?: unknown }): Refusal | undefined {
  if (msg === undefined) return { what: 'an object that has no msg' };
  if (typeof msg !== 'string') return { what: `a msg that is not text but ${show(msg)}` };
  return /^(ok|succ?ess)$/i.test(msg) ? undefined : { what: 'the msg', said: msg };
}

/**
 * The `result` of a command is not shown (section 4.2, endpoints 10 and 12). The public server of 2016 puts the byte there
 * that the device returned, and 0 means that the command is done.
 */
function resultWarning(call: Call): (answer: ResultAnswer) => string | undefined {
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
function refusalMeaning(statusCode: number, said: string | undefined): StatusMeaning | undefined {
  if (statusCode !== 400 || said === undefined) return undefined;
  return REFUSALS.get(said.trim().replace(ENDING, ''));
}

const CALLBACK =
  'Check the key of the callback, the number of the device, and the application id of the configuration: one of them is unknown to the service.';

/** The same for the value of a callback: what is unknown may be the key (section 4.2, endpoint 8). */
const callbackMeaning = (statusCode: number, said: string | undefined): StatusMeaning | undefined =>
  statusCode === 404 ? ['NOT_FOUND', CALLBACK] : refusalMeaning(statusCode, said);

/** The same for a push: the public server of 2016 answers 403 to one without a message. */
const pushMeaning =
  (message: string) =>
  (statusCode: number, said: string | undefined): StatusMeaning | undefined =>
    statusCode === 403 && message === ''
      ? ['BAD_REQUEST', 'The message is empty: the service may take no empty push.']
      : refusalMeaning(statusCode, said);

/** The two spellings of endpoint 2 that the service's document shows. */
export const DEVICE_LISTS = ['devices/list/', 'devices/lists/'] as const;
/** That of the public server of 2016. */
export const PUBLIC_LIST = DEVICE_LISTS[1];

const NO_PARAMS: Params = {};
const inCloud = (name: string): Call => ({ name, reach: 'cloud', ofDevice: false, api: 'open' });

const is200 = (statusCode: number): boolean => statusCode === 200;

const NO_CALLBACK = 'Check the key, and that the callback of the firmware returns a text.';
const NO_JSON = `${NO_CALLBACK} To take a text that is not JSON, choose the datatype auto-detect or utf8.`;

const adviceOn = (datatype: ValueDatatype): string => (datatype === 'json' ? NO_JSON : NO_CALLBACK);

/** A call to one device. */
export interface OpenApiCommand<T> extends CallSpec<T> {
  does: CommandWhat;
}

const toDevice = <T>(does: CommandWhat, call: CallSpec<T>): OpenApiCommand<T> =>
  Object.assign(call, { does });

/** A call about one device. Its name is made when it is needed: for an error. */
class DeviceCall implements Call {
  readonly ofDevice = true;
  readonly api = 'open';
  canWait = false;

  constructor(
    readonly what: string,
    readonly chipid: string,
    readonly titleOf: (chipid: string) => string,
    readonly reach: Call['reach'],
  ) {}

  get name(): string {
    return `${this.what} ${this.titleOf(this.chipid)}`;
  }
}

export type OpenApi = ReturnType<typeof openApi>;

/**
 * The twelve calls of interface B (section 4.2), as specifications to be carried out.
 * @param titleOf what errors call a device
 */
export function openApi(identity: OpenApiIdentity, titleOf = deviceTitle) {
  const ofDevice = (what: string, chipid: string, reach: Call['reach'] = 'device'): Call =>
    new DeviceCall(what, chipid, titleOf, reach);
  const spec = <T>(
    call: Call,
    method: 'GET' | 'POST',
    path: string,
    accepts: Shape<T>,
    params: Params = NO_PARAMS,
    more: Pick<CallSpec<T>, 'decode' | 'advice' | 'meaning' | 'refusal' | 'warning'> = {},
  ): CallSpec<T> => {
    const unsigned = { method, path, params };
    return {
      call,
      accepts,
      succeeds: is200,
      meaning: refusalMeaning,
      unsigned,
      build: () => signedOpenApiRequest(identity, unsigned),
      ...more,
    };
  };

  /** A read that is about one device, whose number ends the path. */
  const read = <T>(
    what: string,
    path: string,
    chipid: string,
    accepts: Shape<T>,
    reach?: Call['reach'],
  ): CallSpec<T> => spec(ofDevice(what, chipid, reach), 'GET', `${path}/${chipid}/`, accepts);

  const push = (call: Call, path: string, message: string, params: Params): CallSpec<PushAnswer> =>
    spec<PushAnswer>(call, 'POST', path, objectOf(), params, {
      refusal: pushRefusal,
      meaning: pushMeaning(message),
    });

  const act = (call: Call, path: string): CallSpec<ResultAnswer> =>
    spec(call, 'POST', path, resultShape, NO_PARAMS, { warning: resultWarning(call) });

  return {
    app: () => spec(inCloud("Reading the application's record"), 'GET', 'apps/', appShape),

    devices: (path: (typeof DEVICE_LISTS)[number]) =>
      spec(inCloud('Listing the online devices'), 'GET', path, deviceList),

    push: (chipid: string, message: string, format: PushFormat) =>
      toDevice(
        { kind: 'push' },
        push(ofDevice('Push to', chipid), 'dev/push/message/', message, {
          devid: chipid,
          message,
          format,
        }),
      ),

    pushToApp: (message: string, format: PushFormat) =>
      push(
        { name: 'Push to all online devices', reach: 'command', ofDevice: false, api: 'open' },
        'app/push/message/',
        message,
        { message, format },
      ),

    uploads: (chipid: string) =>
      read('Reading the uploads of', 'up_messages/dev', chipid, listOf<UploadRecord>(), 'cloud'),

    /** The same for recovery, which judges each record by itself: an invalid one does not affect the others. */
    history: (chipid: string): CallSpec<unknown[]> =>
      spec<unknown[]>(
        inCloud(`Reading the uploads of ${titleOf(chipid)}`),
        'GET',
        `up_messages/dev/${chipid}/`,
        anyArray,
      ),

    pushes: (chipid: string) =>
      read(
        'Reading the pushed commands of',
        'push_messages/dev',
        chipid,
        listOf<PushRecord>(),
        'cloud',
      ),

    sync: (begin: string, end: string) =>
      spec(
        inCloud(`Reading all uploads from ${begin} to ${end}`),
        'GET',
        `sync/${begin}/${end}/`,
        listOf<SyncRecord>(),
      ),

    /** The only answer that need not be JSON: its shape depends on the callback. */
    rtStatus: (chipid: string, key: string, datatype: ValueDatatype) =>
      toDevice(
        { kind: 'rt-status' },
        spec<unknown>(
          ofDevice('Reading a callback of', chipid),
          'GET',
          `rt_status/${chipid}/`,
          anyShape,
          { key },
          {
            decode: (body) => decodeValue(body, datatype),
            advice: adviceOn(datatype),
            meaning: callbackMeaning,
          },
        ),
      ),

    gpioStatus: (chipid: string) =>
      toDevice(
        { kind: 'gpio-status' },
        read('Reading the pins of', 'gpio_status', chipid, resultShape),
      ),

    setGpioEdge: (chipid: string, pin: number, edge: 0 | 1) =>
      toDevice(
        { kind: 'gpio', pin, level: edge },
        act(
          ofDevice(`Setting pin ${pin} to ${edge} on`, chipid),
          `set_gpio_edge/${chipid}/${pin}/${edge}/`,
        ),
      ),

    refresh: (chipid: string) =>
      toDevice(
        { kind: 'refresh' },
        read('Refreshing the status of', 'manual_refresh', chipid, refreshShape),
      ),

    reboot: (chipid: string) =>
      toDevice({ kind: 'reboot' }, act(ofDevice('Rebooting', chipid), `reboot/dev/${chipid}/`)),
  };
}
