import type {
  PushAnswer,
  RefreshAnswer,
  ResultAnswer,
  PushFormat,
  PushRecord,
  SyncRecord,
  UploadRecord,
} from '../types';
import { DeviceCloudError } from '../errors';
import { MAX_RECOVERY_ANSWER } from '../http/exchange';
import type { CallSpec, Shape } from '../http/call-spec';
import type { Call, Refusal } from '../http/failures';
import {
  signedOpenApiRequest,
  type OpenApiIdentity,
  type UnsignedOpenApiRequest,
} from './open-api-request';
import { anyArray, anyShape, appShape, deviceList, listOf, objectOf, resultShape } from './shapes';
import { show } from '../util/show';
import type { Params } from './signing';

/** The error of a call without the keys that it needs. */
export const openApiMissing = (): DeviceCloudError =>
  new DeviceCloudError(
    'NOT_CONFIGURED',
    'The open API needs the appid and the app key. Set them in the configuration.',
  );

/** The two spellings of endpoint 2 that the service's document shows. */
export const DEVICE_LISTS = ['devices/list/', 'devices/lists/'] as const;

const NO_PARAMS: Params = {};
const onDevice = (name: string, chipid: string): Call => ({
  name: `${name} device ${chipid}`,
  reach: 'device',
  ofDevice: true,
});
const inCloud = (name: string): Call => ({ name, reach: 'cloud', ofDevice: false });
const inHistory = (name: string, chipid: string): Call => ({
  name: `${name} of device ${chipid}`,
  reach: 'cloud',
  ofDevice: true,
});
const is200 = (statusCode: number): boolean => statusCode === 200;

/** Endpoints 3 and 4 answer a push that succeeds with `OK` or `success`. */
function pushRefusal({ msg }: { msg?: unknown }): Refusal | undefined {
  if (msg === undefined) return { what: 'an object that has no msg' };
  if (typeof msg !== 'string') return { what: `a msg that is not text but ${show(msg)}` };
  return /^(ok|success)$/i.test(msg) ? undefined : { what: 'the msg', said: msg };
}

/** A call of the open API, which can be explained without carrying it out. */
export interface OpenApiCall<T> extends CallSpec<T> {
  unsigned: UnsignedOpenApiRequest;
}

export type OpenApi = ReturnType<typeof openApi>;

/** The twelve calls of interface B (section 4.2), as specifications to be carried out. */
export function openApi(identity: OpenApiIdentity) {
  const spec = <T>(
    call: Call,
    method: 'GET' | 'POST',
    path: string,
    accepts: Shape<T>,
    params: Params = NO_PARAMS,
    refusal?: (answer: T) => Refusal | undefined,
  ): OpenApiCall<T> => {
    const unsigned: UnsignedOpenApiRequest = { method, path, params };
    return {
      call,
      accepts,
      refusal,
      succeeds: is200,
      unsigned,
      build: () => signedOpenApiRequest(identity, unsigned),
    };
  };

  return {
    app: () => spec(inCloud("Reading the application's record"), 'GET', 'apps/', appShape),

    devices: (path: (typeof DEVICE_LISTS)[number]) =>
      spec(inCloud('Listing the online devices'), 'GET', path, deviceList),

    push: (chipid: string, message: string, format: PushFormat) =>
      spec<PushAnswer>(
        onDevice('Push to', chipid),
        'POST',
        'dev/push/message/',
        objectOf(),
        { devid: chipid, message, format },
        pushRefusal,
      ),

    pushToApp: (message: string, format: PushFormat) =>
      spec<PushAnswer>(
        { name: 'Push to all online devices', reach: 'command', ofDevice: false },
        'POST',
        'app/push/message/',
        objectOf(),
        { message, format },
        pushRefusal,
      ),

    uploads: (chipid: string) =>
      spec<UploadRecord[]>(
        inHistory('Reading the uploads', chipid),
        'GET',
        `up_messages/dev/${chipid}/`,
        listOf(),
      ),

    /** The same for recovery, which judges each record by itself: an invalid one does not affect the others. */
    history: (chipid: string): CallSpec<unknown[]> => ({
      ...spec<unknown[]>(
        inCloud(`Reading the uploads of device ${chipid}`),
        'GET',
        `up_messages/dev/${chipid}/`,
        anyArray,
      ),
      maxAnswer: MAX_RECOVERY_ANSWER,
    }),

    pushes: (chipid: string) =>
      spec<PushRecord[]>(
        inHistory('Reading the pushed commands', chipid),
        'GET',
        `push_messages/dev/${chipid}/`,
        listOf(),
      ),

    sync: (begin: string, end: string) =>
      spec<SyncRecord[]>(
        inCloud(`Reading all uploads from ${begin} to ${end}`),
        'GET',
        `sync/${begin}/${end}/`,
        listOf(),
      ),

    rtStatus: (chipid: string, key: string) =>
      spec<unknown>(
        onDevice('Reading a callback of', chipid),
        'GET',
        `rt_status/${chipid}/`,
        anyShape,
        { key },
      ),

    gpioStatus: (chipid: string) =>
      spec<ResultAnswer>(
        onDevice('Reading the pins of', chipid),
        'GET',
        `gpio_status/${chipid}/`,
        resultShape,
      ),

    setGpioEdge: (chipid: string, pin: number, edge: 0 | 1) =>
      spec<ResultAnswer>(
        onDevice(`Setting pin ${pin} to ${edge} on`, chipid),
        'POST',
        `set_gpio_edge/${chipid}/${pin}/${edge}/`,
        resultShape,
      ),

    refresh: (chipid: string) =>
      spec<RefreshAnswer>(
        onDevice('Refreshing the status of', chipid),
        'GET',
        `manual_refresh/${chipid}/`,
        objectOf(),
      ),

    reboot: (chipid: string) =>
      spec<ResultAnswer>(
        onDevice('Rebooting', chipid),
        'POST',
        `reboot/dev/${chipid}/`,
        resultShape,
      ),
  };
}
