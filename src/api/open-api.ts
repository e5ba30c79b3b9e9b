import type {
  PushAnswer,
  ResultAnswer,
  PushFormat,
  PushRecord,
  SyncRecord,
  UploadRecord,
  ValueDatatype,
} from '../types';
import { notConfigured, type DeviceCloudError } from '../errors';
import type { CallSpec, Shape } from '../http/answer';
import type { Call } from '../http/failures';
import {
  anyArray,
  anyShape,
  appShape,
  callbackMeaning,
  deviceList,
  listOf,
  objectOf,
  refreshShape,
  resultShape,
  pushMeaning,
  pushRefusal,
  refusalMeaning,
  resultWarning,
} from './answers';
import {
  signedOpenApiRequest,
  type OpenApiIdentity,
  type Params,
  type UnsignedOpenApiRequest,
} from './signing';
import { decodeValue } from '../util/decode';
import { deviceTitle } from '../util/show';

/** The error of a call without the keys that it needs. */
export const openApiMissing = (): DeviceCloudError =>
  notConfigured('The open API needs the appid and the app key. Set them in the configuration.');

/** The two spellings of endpoint 2 that the service's document shows. */
export const DEVICE_LISTS = ['devices/list/', 'devices/lists/'] as const;
/** That of the public server of 2016. */
export const PUBLIC_LIST = DEVICE_LISTS[1];

const NO_PARAMS: Params = {};
const inCloud = (name: string): Call => ({ name, reach: 'cloud', ofDevice: false, api: 'open' });
/** A class, since its name is made only when it has failed: there may be tens of thousands of calls a second. */
class DeviceCall implements Call {
  readonly ofDevice = true;
  readonly api = 'open';

  constructor(
    readonly what: string,
    readonly chipid: string,
    readonly titleOf: (chipid: string) => string,
    readonly reach: Call['reach'],
    public canWait: boolean,
  ) {}

  get name(): string {
    return `${this.what} ${this.titleOf(this.chipid)}`;
  }
}

const is200 = (statusCode: number): boolean => statusCode === 200;

const NO_CALLBACK = 'Check the key, and that the callback of the firmware returns a text.';
const NO_JSON = `${NO_CALLBACK} To take a text that is not JSON, choose the datatype auto-detect or utf8.`;

const adviceOn = (datatype: ValueDatatype): string => (datatype === 'json' ? NO_JSON : NO_CALLBACK);

/** A call of the open API. */
export interface OpenApiCall<T> extends CallSpec<T> {
  unsigned: UnsignedOpenApiRequest;
}

export type OpenApi = ReturnType<typeof openApi>;

/**
 * The twelve calls of interface B (section 4.2), as specifications to be carried out.
 * @param titleOf what errors call a device
 */
export function openApi(identity: OpenApiIdentity, titleOf = deviceTitle) {
  const command = (what: string, chipid: string): Call =>
    new DeviceCall(what, chipid, titleOf, 'device', true);
  const spec = <T>(
    call: Call,
    method: 'GET' | 'POST',
    path: string,
    accepts: Shape<T>,
    params: Params = NO_PARAMS,
    more: Pick<CallSpec<T>, 'decode' | 'advice' | 'meaning' | 'refusal' | 'warning'> = {},
  ): OpenApiCall<T> => {
    const unsigned: UnsignedOpenApiRequest = { method, path, params };
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
    reach: Call['reach'] = 'device',
  ): OpenApiCall<T> => {
    const call = new DeviceCall(what, chipid, titleOf, reach, false);
    return spec(call, 'GET', `${path}/${chipid}/`, accepts);
  };

  const push = (
    call: Call,
    path: string,
    message: string,
    params: Params,
  ): OpenApiCall<PushAnswer> =>
    spec<PushAnswer>(call, 'POST', path, objectOf(), params, {
      refusal: pushRefusal,
      meaning: pushMeaning(message),
    });

  const act = (call: Call, path: string): OpenApiCall<ResultAnswer> =>
    spec(call, 'POST', path, resultShape, NO_PARAMS, { warning: resultWarning(call) });

  return {
    app: () => spec(inCloud("Reading the application's record"), 'GET', 'apps/', appShape),

    devices: (path: (typeof DEVICE_LISTS)[number]) =>
      spec(inCloud('Listing the online devices'), 'GET', path, deviceList),

    push: (chipid: string, message: string, format: PushFormat) =>
      push(command('Push to', chipid), 'dev/push/message/', message, {
        devid: chipid,
        message,
        format,
      }),

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
      spec<unknown>(
        new DeviceCall('Reading a callback of', chipid, titleOf, 'device', false),
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

    gpioStatus: (chipid: string) => read('Reading the pins of', 'gpio_status', chipid, resultShape),

    setGpioEdge: (chipid: string, pin: number, edge: 0 | 1) =>
      act(
        command(`Setting pin ${pin} to ${edge} on`, chipid),
        `set_gpio_edge/${chipid}/${pin}/${edge}/`,
      ),

    refresh: (chipid: string) =>
      read('Refreshing the status of', 'manual_refresh', chipid, refreshShape),

    reboot: (chipid: string) => act(command('Rebooting', chipid), `reboot/dev/${chipid}/`),
  };
}
