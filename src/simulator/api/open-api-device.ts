import type { Params } from '../../api/signing';
import { isMessage, PINS, REFRESH_OFFLINE, RESULT_OK, STATUS } from '../assumptions';
import { callbackValue } from '../service/callbacks';
import { messageBytes, readFormat } from '../service/formats';
import { askDevice, callDevice, pushToDevice } from '../service/gateway';
import { pathDevice, type OpenApiCall, type OpenApiRoute } from './open-api-call';
import { integer, requireParam } from './params';
import { badRequest, Refusal } from '../transport/refusal';
import type { Push } from '../service/service';

function readPush(params: Params, via: Push['via']): Push {
  const { message } = params;
  if (!isMessage(message)) throw badRequest('parameter message is missing');
  const format = readFormat(params['format']);
  return { via, format, message, bytes: messageBytes(message, format) };
}

async function push({ service, params, signal }: OpenApiCall): Promise<object> {
  const devid = integer('devid', requireParam(params, 'devid'));
  const content = readPush(params, 'open-api');
  await pushToDevice(service, service.device(devid), content, signal);
  return { msg: 'OK' };
}

/** Endpoint 4: nothing is stored for devices that are offline, and nothing waits for those online. */
function pushToApp({ service, params }: OpenApiCall): object {
  const content = readPush(params, 'app-push');
  for (const device of service.devices.values()) {
    if (device.online) service.push(device, content);
  }
  return { msg: 'success' };
}

async function rtStatus(call: OpenApiCall): Promise<unknown> {
  const { service, signal } = call;
  const key = requireParam(call.params, 'key');
  const device = pathDevice(call);
  const interval = device.settings.interval ?? service.settings.interval;
  const read = () => callbackValue(device, key, service.settings.now(), interval);
  const callback = await callDevice(service, device, read, signal);
  if (callback) return callback.value;
  throw new Refusal(STATUS.unknownCallback, `device ${device.chipid} has no such callback`);
}

async function gpioStatus(call: OpenApiCall): Promise<object> {
  const device = pathDevice(call);
  return { result: await callDevice(call.service, device, () => device.levels, call.signal) };
}

async function setGpioEdge(call: OpenApiCall): Promise<object> {
  const { edge, pin: pinText = '' } = call.segments;
  const pin = Number(integer('pin', pinText));
  if (pin >= PINS) throw badRequest(`pin must be less than ${PINS}`);
  if (edge !== '0' && edge !== '1') throw badRequest('edge must be 0 or 1');
  const device = pathDevice(call);
  const set = () => device.setLevel(pin, edge === '1' ? 1 : 0);
  await callDevice(call.service, device, set, call.signal);
  return { result: RESULT_OK };
}

async function refresh(call: OpenApiCall): Promise<object> {
  const probe = () => undefined;
  const answered = await askDevice(call.service, pathDevice(call), probe, call.signal);
  return answered ? { status: 'online', msg: 'OK' } : REFRESH_OFFLINE;
}

async function reboot(call: OpenApiCall): Promise<object> {
  const device = pathDevice(call);
  await callDevice(call.service, device, () => device.reboot(), call.signal);
  return { result: RESULT_OK };
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
