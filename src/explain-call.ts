import { DEVICE_LISTS, parseKey, type OpenApi, type OpenApiCall } from './api/open-api';
import {
  explainChannel,
  explainOpenApi,
  explainServerApi,
  type Draft,
  type ExplainNote,
  type ExplainSettings,
  type Explanation,
} from './api/explain';
import { hideSecrets } from './api/explain-secrets';
import {
  parseBody,
  parseDeviceid,
  parseQuery,
  type ServerApi,
  type ServerApiCall,
} from './api/server-api';
import { readDuration, readFormat, readLimits } from './call-options';
import { parseChipid } from './input/chipid';
import { parsePeriod } from './input/day';
import { parseLevel, parsePin } from './input/gpio';
import { keyWarnings, type KeyName } from './input/pasted-key';
import { pushBytes, pushMessage } from './input/push-payload';
import type { ClientOptions, Settings } from './settings';
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
} from './types';

type OfDevice<O = CallOptions> = [chipid: Chipid, options?: O];

/** What the calls that can be explained are given: all that send a request. */
interface CallArguments {
  app: [options?: CallOptions];
  devices: [options?: CallOptions];
  push: [chipid: Chipid, message: PushMessage, options?: PushOptions];
  pushToApp: [message: PushMessage, options?: PushOptions];
  pushOverChannel: [chipid: Chipid, message: PushMessage, options?: PushOptions];
  uploads: OfDevice;
  pushes: OfDevice;
  sync: [begin: Day, end: Day, options?: CallOptions];
  rtStatus: [chipid: Chipid, key: string, options?: CallOptions];
  gpioStatus: OfDevice;
  setGpioEdge: [chipid: Chipid, pin: Pin, level: Level, options?: CommandOptions];
  pulseGpio: [chipid: Chipid, pin: Pin, level: Level, options?: PulseOptions];
  refresh: OfDevice;
  reboot: OfDevice<CommandOptions>;
  serverDevices: [query?: Query, options?: CallOptions];
  serverDevice: [deviceid: string | number, options?: CallOptions];
  serverUpdate: [deviceid: string | number, body: JsonObject, options?: CallOptions];
  serverPassthrough: [deviceid: string | number, body: JsonObject, options?: CallOptions];
  serverUploads: [query?: Query, options?: CallOptions];
}

/** The calls that can be explained. */
export type ExplainedCall = keyof CallArguments;

/** What a call is given. */
export type ExplainedArguments<C extends ExplainedCall> = CallArguments[C];

/** What an explanation takes from a client. */
export interface Explainable {
  settings: Settings;
  options: ClientOptions;
  /** @throws DeviceCloudError `NOT_CONFIGURED`, as the client's calls do */
  open: () => OpenApi;
  server: () => ServerApi;
}

const settingsOf = ({ settings, options }: Explainable): ExplainSettings => {
  const { origin, timestampUnit, postParameters, signCase } = settings;
  const { now = Date.now, proxy } = options;
  const curlOptions = proxy === false ? ["--noproxy '*'"] : [];
  return { origin, timestampUnit, postParameters, signCase, now, curlOptions };
};

const appidOf = ({ settings }: Explainable): { appid: string } => ({
  appid: settings.openApi?.appid ?? '',
});

/** Reads the limits of a call as the call does, although an explanation has none. */
const checkLimits = (options: CallOptions | undefined): unknown => readLimits(options, 1);

function open<T>(from: Explainable, { unsigned }: OpenApiCall<T>, options?: CallOptions): Draft {
  checkLimits(options);
  return explainOpenApi(settingsOf(from), appidOf(from), unsigned);
}

function server(from: Explainable, { unsigned }: ServerApiCall, options?: CallOptions): Draft {
  checkLimits(options);
  const { serverPassword = '' } = from.options;
  return explainServerApi(settingsOf(from), { serverPassword }, unsigned);
}

const spelling = (): ExplainNote => ({
  code: 'spelling',
  message: `If the answer is 404, ${DEVICE_LISTS[1]} is asked for in place of ${DEVICE_LISTS[0]}.`,
});

type Explain<C extends ExplainedCall> = (from: Explainable, args: ExplainedArguments<C>) => Draft;

/** Reads what each call is given in the order in which the client reads it, so that the same error comes first. */
const CALLS: { readonly [C in ExplainedCall]: Explain<C> } = {
  app: (from, [options]) => open(from, from.open().app(), options),
  devices(from, [options]) {
    const draft = open(from, from.open().devices(DEVICE_LISTS[0]), options);
    return { ...draft, warnings: [spelling()] };
  },
  push(from, [chipid, message, options]) {
    const format = readFormat(options);
    const device = parseChipid(chipid);
    return open(from, from.open().push(device, pushMessage(message, format), format), options);
  },
  pushToApp(from, [message, options]) {
    const format = readFormat(options);
    return open(from, from.open().pushToApp(pushMessage(message, format), format), options);
  },
  pushOverChannel(from, [chipid, message, options]) {
    const device = parseChipid(chipid);
    const bytes = pushBytes(message, readFormat(options));
    checkLimits(options);
    from.open();
    return explainChannel(settingsOf(from), appidOf(from), device, bytes);
  },
  uploads: (from, [chipid, options]) =>
    open(from, from.open().uploads(parseChipid(chipid)), options),
  pushes: (from, [chipid, options]) => open(from, from.open().pushes(parseChipid(chipid)), options),
  sync(from, [begin, end, options]) {
    const [first, last] = parsePeriod(begin, end);
    return open(from, from.open().sync(first, last), options);
  },
  rtStatus(from, [chipid, key, options]) {
    const device = parseChipid(chipid);
    return open(from, from.open().rtStatus(device, parseKey(key)), options);
  },
  gpioStatus(from, [chipid, options]) {
    const device = parseChipid(chipid);
    return open(from, from.open().gpioStatus(device), options);
  },
  setGpioEdge(from, [chipid, pin, level, options]) {
    const device = parseChipid(chipid);
    const api = from.open();
    return open(from, api.setGpioEdge(device, parsePin(pin), parseLevel(level)), options);
  },
  pulseGpio(from, [chipid, pin, level, options]) {
    const device = parseChipid(chipid);
    const [number, edge] = [parsePin(pin), parseLevel(level)];
    readDuration(options);
    // The first of the two: the second has the opposite level.
    return open(from, from.open().setGpioEdge(device, number, edge), options);
  },
  refresh(from, [chipid, options]) {
    const device = parseChipid(chipid);
    return open(from, from.open().refresh(device), options);
  },
  reboot(from, [chipid, options]) {
    const device = parseChipid(chipid);
    return open(from, from.open().reboot(device), options);
  },
  serverDevices: (from, [query, options]) =>
    server(from, from.server().devices(parseQuery(query)), options),
  serverDevice: (from, [deviceid, options]) =>
    server(from, from.server().device(parseDeviceid(deviceid)), options),
  serverUpdate(from, [deviceid, body, options]) {
    const id = parseDeviceid(deviceid);
    return server(from, from.server().update(id, parseBody(body)), options);
  },
  serverPassthrough(from, [deviceid, body, options]) {
    const id = parseDeviceid(deviceid);
    return server(from, from.server().passthrough(id, parseBody(body)), options);
  },
  serverUploads: (from, [query, options]) =>
    server(from, from.server().uploads(parseQuery(query)), options),
};

const KEYS_OF_SERVER: readonly KeyName[] = ['serverKey', 'serverPassword'];
const KEYS_OF_OPEN: readonly KeyName[] = ['appid', 'appkey'];

/** What the command lacks of the application's connection. */
function connectionNotes({ tls, proxy }: ClientOptions, origin: string): ExplainNote[] {
  const lacking = (code: 'tls' | 'proxy', what: string): ExplainNote => ({
    code,
    message: `The command does not have the ${what} settings of the application.`,
  });
  return [
    ...(tls && origin.startsWith('https:') ? [lacking('tls', 'TLS')] : []),
    ...(proxy ? [lacking('proxy', 'proxy')] : []),
  ];
}

/** Explains a call. @throws DeviceCloudError as the call itself does for what it is given */
export function explainCall<C extends ExplainedCall>(
  from: Explainable,
  call: C,
  args: ExplainedArguments<C>,
): Explanation {
  const explain: Explain<C> = CALLS[call];
  const draft = explain(from, args);
  const { options, settings } = from;
  const names = call.startsWith('server') ? KEYS_OF_SERVER : KEYS_OF_OPEN;
  const warnings = [
    ...keyWarnings(Object.fromEntries(names.map((name) => [name, options[name]]))),
    ...connectionNotes(options, settings.origin),
    ...draft.warnings,
  ];
  const secrets = [options.appkey, options.serverKey, options.serverPassword];
  return hideSecrets({ ...draft, warnings }, secrets);
}
