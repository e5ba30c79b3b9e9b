import { DEVICE_LISTS } from './api/open-api';
import { parseBody, parseDeviceid, parsePagination, parseQuery } from './api/server-api';
import { checkSentNow, readDuration, readFormat, readValueDatatype, type Caller } from './caller';
import { parseChipid } from './input/chipid';
import { parsePeriod } from './input/day';
import { parseLevel, parsePin } from './input/gpio';
import { parseKey } from './input/values';
import { pushBytes, pushMessage } from './input/push-payload';
import type {
  CallOptions,
  Chipid,
  CommandOptions,
  Day,
  JsonObject,
  Level,
  Pin,
  PulseOptions,
  PushMessage,
  PushOptions,
  Query,
  ValueOptions,
} from './types';

type Deviceid = string | number;

/**
 * Checks the arguments of each call and makes the specification of its request. Making a call and explaining
 * it both start here, so that both fail with the same error.
 */
export const CALLS = {
  app: ({ open }: Caller, options?: CallOptions) => ({ spec: open().app(), options }),
  devices: ({ open }: Caller, options?: CallOptions) => ({
    spec: open().devices(DEVICE_LISTS[0]),
    options,
  }),
  push({ open }: Caller, chipid: Chipid, message: PushMessage, options?: PushOptions) {
    const format = readFormat(options);
    const device = parseChipid(chipid);
    return { device, spec: open().push(device, pushMessage(message, format), format), options };
  },
  pushToApp({ open }: Caller, message: PushMessage, options?: PushOptions) {
    const format = readFormat(options);
    checkSentNow(options, 'A push to all devices');
    return { spec: open().pushToApp(pushMessage(message, format), format), options };
  },
  pushOverChannel(
    { open, charset }: Caller,
    chipid: Chipid,
    message: PushMessage,
    options?: PushOptions,
  ) {
    const device = parseChipid(chipid);
    const bytes = pushBytes(message, readFormat(options), charset());
    checkSentNow(options, 'A push over the channel');
    open();
    return { device, bytes, options };
  },
  uploadHistory: ({ open }: Caller, chipid: Chipid, options?: CallOptions) => ({
    spec: open().uploads(parseChipid(chipid)),
    options,
  }),
  pushHistory: ({ open }: Caller, chipid: Chipid, options?: CallOptions) => ({
    spec: open().pushes(parseChipid(chipid)),
    options,
  }),
  appHistory({ open }: Caller, begin: Day, end: Day, options?: CallOptions) {
    const [first, last] = parsePeriod(begin, end);
    return { spec: open().sync(first, last), first, last, options };
  },
  rtStatus({ open }: Caller, chipid: Chipid, key: string, options?: ValueOptions) {
    const datatype = readValueDatatype(options);
    const device = parseChipid(chipid);
    return { device, spec: open().rtStatus(device, parseKey(key), datatype), options };
  },
  gpioStatus({ open }: Caller, chipid: Chipid, options?: CallOptions) {
    const device = parseChipid(chipid);
    return { device, spec: open().gpioStatus(device), options };
  },
  setGpioEdge({ open }: Caller, chipid: Chipid, pin: Pin, level: Level, options?: CommandOptions) {
    const device = parseChipid(chipid);
    const spec = open().setGpioEdge(device, parsePin(pin), parseLevel(level));
    return { device, spec, options };
  },
  /** `spec` is the first of the two requests: the second has the opposite level. */
  pulseGpio({ open }: Caller, chipid: Chipid, pin: Pin, level: Level, options?: PulseOptions) {
    const device = parseChipid(chipid);
    const [number, edge] = [parsePin(pin), parseLevel(level)];
    const pulse = { chipid: device, pin: number, level: edge, duration: readDuration(options) };
    return { device, spec: open().setGpioEdge(device, number, edge), pulse, options };
  },
  refresh({ open }: Caller, chipid: Chipid, options?: CallOptions) {
    const device = parseChipid(chipid);
    return { device, spec: open().refresh(device), options };
  },
  reboot({ open }: Caller, chipid: Chipid, options?: CommandOptions) {
    const device = parseChipid(chipid);
    return { device, spec: open().reboot(device), options };
  },
  serverDevices: ({ server }: Caller, query?: Query, options?: CallOptions) => ({
    serverSpec: server().devices(parseQuery(query)),
    options,
  }),
  serverDevice: ({ server }: Caller, deviceid: Deviceid, options?: CallOptions) => ({
    serverSpec: server().device(parseDeviceid(deviceid)),
    options,
  }),
  serverUpdate({ server }: Caller, deviceid: Deviceid, body: JsonObject, options?: CallOptions) {
    const id = parseDeviceid(deviceid);
    return { id, serverSpec: server().update(id, parseBody(body)), options };
  },
  serverPassthrough(
    { server }: Caller,
    deviceid: Deviceid,
    body: JsonObject,
    options?: CallOptions,
  ) {
    const id = parseDeviceid(deviceid);
    return { id, serverSpec: server().passthrough(id, parseBody(body)), options };
  },
  serverUploads: ({ server }: Caller, query: Query, options?: CallOptions) => ({
    serverSpec: server().uploads(parsePagination(query)),
    options,
  }),
};

/** The calls that send a request. */
export type CallName = keyof typeof CALLS;

type WithoutFirst<P> = P extends readonly [unknown, ...infer Rest] ? Rest : never;

export type CallArguments<C extends CallName> = WithoutFirst<Parameters<(typeof CALLS)[C]>>;
