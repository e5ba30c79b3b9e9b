import type { Params } from '../protocol/signing';
import type { Device } from './device';
import { serverTime } from './encoding';
import { inOrder, syncRecord, uploadRecord, type UploadEntry } from './history';
import {
  findRoute,
  isInteger,
  readForm,
  readParams,
  Refusal,
  requireParam,
  route,
  type Answer,
  type Incoming,
  type Segments,
} from './http';
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

/** The device named by the path's `:chipid`. @throws Refusal */
function pathDevice(
  { service: { devices, dialect }, segments: { chipid = '' } }: OpenApiCall,
  noDevice = dialect.noDevice,
): Device {
  if (!isInteger(chipid)) throw dialect.notInteger('chipid', true);
  const device = devices.get(chipid);
  if (!device) throw noDevice(chipid);
  return device;
}

/** The online devices, as section 2.1 has them. Chip numbers are bare integers, however long. */
const onlineDevices = ({ service }: OpenApiCall): object[] =>
  service.online().map((device) => ({
    chipid: BigInt(device.chipid),
    name: device.name,
    devid: BigInt(device.chipid),
    appid: BigInt(service.settings.appid),
    vertype: 1,
    devkey: device.settings.devkey,
    latest: service.dialect.latest(device),
  }));

const app = (call: OpenApiCall): object => ({
  name: call.service.settings.appName,
  online: onlineDevices(call),
});

/** Writes uploads, oldest first, as records of a history. @throws Refusal */
function written(
  uploads: readonly UploadEntry[],
  { dialect, form }: Service,
  record: typeof syncRecord,
): object[] {
  dialect.checkHistory(uploads);
  return inOrder(uploads, dialect.isNewestFirst).map((upload) => record(upload, form));
}

function uploads(call: OpenApiCall): unknown {
  const { service } = call;
  const device = pathDevice(call, call.service.dialect.noHistory);
  const records = written(device.uploads, service, uploadRecord);
  return service.rewrite ? service.rewrite(records, device.chipid) : records;
}

function pushes(call: OpenApiCall): object[] {
  const { dialect, form } = call.service;
  const { pushes: kept } = pathDevice(call, call.service.dialect.noHistory);
  // A record of section 2.4.
  return (dialect.isNewestFirst ? kept.toReversed() : kept).map((push) => ({
    ...dialect.pushedAs(push, form.historyEncoding),
    create_time: serverTime(push.at, form.zone),
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
  await service.push(service.device(devid), content, signal);
  return { msg: 'OK' };
}

/** Endpoint 4: nothing is stored for devices that are offline, and nothing waits for those online. */
function pushToApp({ service, params }: OpenApiCall): object {
  const content = service.dialect.readPush(params, 'app-push');
  const online = service.online();
  const answer = service.dialect.pushedToAll(online.length);
  for (const device of online) service.send(device, content);
  return answer;
}

async function rtStatus(call: OpenApiCall): Promise<unknown> {
  const { service, params, signal } = call;
  const key = requireParam(params, 'key');
  const device = pathDevice(call);
  const callback = await service.call(device, () => device.callback(key), signal);
  return service.dialect.callbackAnswer(device.chipid, callback);
}

async function setGpioEdge(call: OpenApiCall): Promise<object> {
  const { service, segments, signal } = call;
  const { edge = '', pin: pinText = '' } = segments;
  const { pin, level, result } = service.dialect.readPin(pinText, edge);
  const device = pathDevice(call);
  const set = (): void => {
    if (pin !== undefined) device.setLevel(pin, level);
  };
  await service.call(device, set, signal);
  return { result };
}

async function gpioStatus(call: OpenApiCall): Promise<object> {
  const device = pathDevice(call);
  const levels = await call.service.call(device, () => device.levels, call.signal);
  return { result: call.service.dialect.gpioResult(levels) };
}

async function reboot(call: OpenApiCall): Promise<object> {
  const device = pathDevice(call);
  await call.service.call(device, () => device.reboot(), call.signal);
  return { result: call.service.dialect.rebooted };
}

async function refresh(call: OpenApiCall): Promise<object> {
  await call.service.call(pathDevice(call), () => undefined, call.signal, 'refresh');
  return { status: 'online', msg: 'OK' };
}

/** The calls of interface B by endpoint of section 4.2: only the first five do not reach devices. */
const routesOf = (devicesPath: string) => [
  route<OpenApiRun>('GET', 'apps/', app),
  route<OpenApiRun>('GET', `devices/${devicesPath}/`, onlineDevices),
  route<OpenApiRun>('GET', 'up_messages/dev/:chipid/', uploads),
  route<OpenApiRun>('GET', 'push_messages/dev/:chipid/', pushes),
  route<OpenApiRun>('GET', 'sync/:begin_date/:end_date/', sync),
  route<OpenApiRun>('POST', 'dev/push/message/', push),
  route<OpenApiRun>('POST', 'app/push/message/', pushToApp),
  route<OpenApiRun>('GET', 'rt_status/:chipid/', rtStatus),
  route<OpenApiRun>('GET', 'gpio_status/:chipid/', gpioStatus),
  route<OpenApiRun>('POST', 'set_gpio_edge/:chipid/:pin/:edge/', setGpioEdge),
  route<OpenApiRun>('GET', 'manual_refresh/:chipid/', refresh),
  route<OpenApiRun>('POST', 'reboot/dev/:chipid/', reboot),
];

/** Interface B (section 4.2): path, then sign, then parameters, then device. */
export function createOpenApi(service: Service): (request: Incoming) => Promise<Answer> {
  const { dialect } = service;
  const routes = routesOf(dialect.devicesPath);

  return async ({ method, path, query, headers, body, signal }) => {
    const command = path.slice(OPEN_API.length);
    if (!command.endsWith('/') && routes.some((each) => each.path.test(`${command}/`))) {
      const location = query === '' ? `${path}/` : `${path}/?${query}`;
      throw new Refusal(301, 'the path has to end with /', { location });
    }
    const { run, segments } = findRoute(routes, method, command, dialect.noPath);
    const form = method === 'POST' ? readForm(headers['content-type'], body) : '';
    const params = readParams(query, form);
    dialect.checkSign(service, { method, query: readParams(query), params, of: 'open-api' });
    return { status: 200, body: await run({ service, params, segments, signal }) };
  };
}
