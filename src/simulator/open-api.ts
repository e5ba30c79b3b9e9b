import type { Params } from '../api/signing';
import type { Device } from './device';
import { askDevice, callDevice, pushToDevice } from './device-calls';
import { serverTime } from './encoding';
import { inOrder, syncRecord, uploadRecord, type UploadEntry } from './history';
import {
  findRoute,
  hasPath,
  isInteger,
  readForm,
  readParams,
  Refusal,
  requireParam,
  route,
  type Answer,
  type Incoming,
  type Route,
  type Segments,
} from './http';
import type { Settings } from './options';
import type { Service } from './service';

export const OPEN_API = '/openapi/';

/** A call of interface B whose sign is right. */
interface OpenApiCall {
  readonly service: Service;
  readonly params: Params;
  readonly segments: Segments;
  readonly signal: AbortSignal;
}

/** Carries out a call. The result is the JSON of status 200; every other one is a Refusal. */
type OpenApiRun = (call: OpenApiCall) => unknown;

/**
 * The device named by the path's `:chipid`.
 * @param noDevice makes the refusal of a device that does not exist; default: the refusal of most calls
 * @throws Refusal
 */
function pathDevice(
  { service, segments }: OpenApiCall,
  noDevice?: (chipid: string) => Refusal,
): Device {
  const { chipid = '' } = segments;
  if (!isInteger(chipid)) throw service.dialect.notInteger('chipid', true);
  return service.device(chipid, noDevice);
}

/** A device of the open API (section 2.1). Chip numbers are bare integers, however long. */
const deviceRecord = (device: Device, latest: string, settings: Settings): object => ({
  chipid: BigInt(device.chipid),
  name: device.name,
  devid: BigInt(device.chipid),
  appid: BigInt(settings.appid),
  vertype: device.settings.vertype,
  devkey: device.settings.devkey,
  latest,
});

function onlineDevices({ service }: OpenApiCall): object[] {
  const { settings, dialect, devices } = service;
  const online = [...devices.values()].filter((device) => device.online);
  return online.map((device) => deviceRecord(device, dialect.latest(device), settings));
}

function app(call: OpenApiCall): object {
  return { name: call.service.settings.appName, online: onlineDevices(call) };
}

/** Writes uploads, oldest first, as records in the order of the settings. @throws Refusal */
function written(
  uploads: readonly UploadEntry[],
  { settings, dialect }: Pick<Service, 'settings' | 'dialect'>,
  record: typeof uploadRecord,
): object[] {
  dialect.checkHistory(uploads);
  const ordered = inOrder(uploads, settings.historyOrder, ({ made }) => made);
  return ordered.map((upload) => record(upload, settings));
}

function uploads(call: OpenApiCall): unknown {
  const { dialect, rewrite } = call.service;
  const device = pathDevice(call, dialect.noHistory);
  const records = written(device.uploads, call.service, uploadRecord);
  return rewrite ? rewrite(records, device.chipid) : records;
}

function pushes(call: OpenApiCall): object[] {
  const { settings, dialect } = call.service;
  const device = pathDevice(call, dialect.noHistory);
  const { pushes: kept } = device;
  const ordered = settings.historyOrder === 'oldest-first' ? kept : kept.toReversed();
  // A record of section 2.4.
  return ordered.map((push) => ({
    ...dialect.pushedAs(push, settings.historyEncoding),
    create_time: serverTime(push.at, settings.zone),
    id: String(push.id),
    dev: push.chipid,
  }));
}

function sync({ service, segments }: OpenApiCall): object[] {
  const { begin_date: begin = '', end_date: end = '' } = segments;
  const isWithin = service.dialect.readSpan(begin, end);
  return written(service.allUploads().filter(isWithin), service, syncRecord);
}

async function push({ service, params, signal }: OpenApiCall): Promise<object> {
  const { dialect } = service;
  const devid = requireParam(params, 'devid');
  if (!isInteger(devid)) throw dialect.notInteger('devid', false);
  const content = dialect.readPush(params, 'open-api');
  await pushToDevice(service, service.device(devid), content, signal);
  return { msg: 'OK' };
}

/** Endpoint 4: nothing is stored for devices that are offline, and nothing waits for those online. */
function pushToApp({ service, params }: OpenApiCall): object {
  const { dialect } = service;
  const content = dialect.readPush(params, 'app-push');
  const online = [...service.devices.values()].filter((device) => device.online);
  const answer = dialect.pushedToAll(online.length);
  for (const device of online) service.push(device, content, true);
  return answer;
}

async function rtStatus(call: OpenApiCall): Promise<unknown> {
  const { service, signal } = call;
  const { dialect } = service;
  const key = dialect.readKey(call.params);
  const device = pathDevice(call);
  const read = () => device.callback(key);
  return dialect.callbackAnswer(device, await callDevice(service, device, read, signal));
}

async function gpioStatus(call: OpenApiCall): Promise<object> {
  const device = pathDevice(call);
  const levels = await callDevice(call.service, device, () => device.levels, call.signal);
  return { result: call.service.dialect.gpioResult(levels) };
}

async function setGpioEdge(call: OpenApiCall): Promise<object> {
  const { edge = '', pin: pinText = '' } = call.segments;
  const { pin, level, result } = call.service.dialect.readPin(pinText, edge);
  const device = pathDevice(call);
  const set = (): void => {
    if (pin !== undefined) device.setLevel(pin, level);
  };
  await callDevice(call.service, device, set, call.signal);
  return { result };
}

async function refresh(call: OpenApiCall): Promise<object> {
  const device = pathDevice(call);
  const probe = () => undefined;
  const outcome = await askDevice(call.service, device, 'refresh', probe, call.signal);
  if (typeof outcome === 'object') return { status: 'online', msg: 'OK' };
  return call.service.dialect.refreshed(device, outcome);
}

async function reboot(call: OpenApiCall): Promise<object> {
  const device = pathDevice(call);
  await callDevice(call.service, device, () => device.reboot(), call.signal);
  return { result: call.service.dialect.rebooted };
}

/** The calls of interface B by endpoint of section 4.2: only the first five do not reach devices. */
function routesOf({ devicesPath }: Settings): Route<OpenApiRun>[] {
  const spellings = devicesPath === 'both' ? ['list', 'lists'] : [devicesPath];
  const get = (path: string, run: OpenApiRun) => route('GET', path, run);
  const post = (path: string, run: OpenApiRun) => route('POST', path, run);
  return [
    get('apps/', app),
    ...spellings.map((spelling) => get(`devices/${spelling}/`, onlineDevices)),
    get('up_messages/dev/:chipid/', uploads),
    get('push_messages/dev/:chipid/', pushes),
    get('sync/:begin_date/:end_date/', sync),
    post('dev/push/message/', push),
    post('app/push/message/', pushToApp),
    get('rt_status/:chipid/', rtStatus),
    get('gpio_status/:chipid/', gpioStatus),
    post('set_gpio_edge/:chipid/:pin/:edge/', setGpioEdge),
    get('manual_refresh/:chipid/', refresh),
    post('reboot/dev/:chipid/', reboot),
  ];
}

/** Interface B (section 4.2): path, then sign, then parameters, then device. */
export function createOpenApi(service: Service): (request: Incoming) => Promise<Answer> {
  const routes = routesOf(service.settings);
  const { dialect } = service;

  const checkSlash = ({ path, query }: Incoming): void => {
    if (path.endsWith('/') || !hasPath(routes, `${path.slice(OPEN_API.length)}/`)) return;
    const location = query === '' ? `${path}/` : `${path}/?${query}`;
    throw new Refusal(301, 'the path has to end with /', { location });
  };

  return async (request) => {
    const { method, path, query, headers, body, signal } = request;
    checkSlash(request);
    const { run, segments } = findRoute(
      routes,
      method,
      path.slice(OPEN_API.length),
      dialect.noPath,
    );
    const form = method === 'POST' ? readForm(headers['content-type'], body) : '';
    const params = readParams(query, form);
    dialect.checkSign(service, { method, query: readParams(query), params, of: 'open-api' });
    return { status: 200, body: await run({ service, params, segments, signal }) };
  };
}
