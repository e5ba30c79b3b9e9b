import { callbackValue } from '../service/callbacks';
import { askDevice, callDevice, pushToDevice } from '../service/gateway';
import { pathDevice, type OpenApiCall, type OpenApiRoute } from './open-api-call';
import { isInteger, requireParam } from '../transport/params';

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
  const interval = device.settings.interval ?? service.settings.interval;
  const read = () => callbackValue(device, key, service.settings.now(), interval);
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
  delete device.staleLatest;
  if (typeof outcome === 'object') return { status: 'online', msg: 'OK' };
  return call.service.dialect.refreshed(device, outcome);
}

async function reboot(call: OpenApiCall): Promise<object> {
  const device = pathDevice(call);
  await callDevice(call.service, device, () => device.reboot(), call.signal);
  return { result: call.service.dialect.rebooted };
}

/** The calls of interface B that reach devices (section 4.2, endpoints 3, 4 and 8 to 12). */
export const DEVICE_ROUTES: readonly OpenApiRoute[] = [
  { method: 'POST', path: 'dev/push/message/', run: push },
  { method: 'POST', path: 'app/push/message/', run: pushToApp },
  { method: 'GET', path: 'rt_status/:chipid/', run: rtStatus },
  { method: 'GET', path: 'gpio_status/:chipid/', run: gpioStatus },
  { method: 'POST', path: 'set_gpio_edge/:chipid/:pin/:edge/', run: setGpioEdge },
  { method: 'GET', path: 'manual_refresh/:chipid/', run: refresh },
  { method: 'POST', path: 'reboot/dev/:chipid/', run: reboot },
];
