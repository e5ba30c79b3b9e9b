import { isSpan } from '../assumptions';
import type { Device } from '../devices/device';
import {
  inOrder,
  pushRecord,
  syncRecord,
  uploadRecord,
  type UploadEntry,
} from '../devices/history';
import { pathDevice, type OpenApiCall, type OpenApiRoute } from './open-api-call';
import type { Settings } from '../options/options';
import { badRequest } from '../transport/refusal';
import type { Service } from '../service/service';
import { isDay, serverDay, serverTime } from '../devices/time';

/** A device of the open API (section 2.1). Chip numbers are bare integers, however long. */
const deviceRecord = (device: Device, settings: Settings): object => ({
  chipid: BigInt(device.chipid),
  name: device.name,
  devid: BigInt(device.chipid),
  appid: BigInt(settings.appid),
  vertype: device.settings.vertype,
  devkey: device.settings.devkey,
  latest: serverTime(device.lastSeen),
});

const onlineDevices = ({ service }: OpenApiCall): object[] =>
  [...service.devices.values()]
    .filter((device) => device.online)
    .map((device) => deviceRecord(device, service.settings));

function app(call: OpenApiCall): object {
  return { name: call.service.settings.appName, online: onlineDevices(call) };
}

function uploads(call: OpenApiCall): unknown {
  const { settings, rewrite } = call.service;
  const device = pathDevice(call);
  const records = inOrder(device.uploads, settings.historyOrder).map((upload) =>
    uploadRecord(upload, settings),
  );
  return rewrite ? rewrite(records, device.chipid) : records;
}

function pushes(call: OpenApiCall): object[] {
  const { settings } = call.service;
  return inOrder(pathDevice(call).pushes, settings.historyOrder).map((push) =>
    pushRecord(push, settings),
  );
}

/** Every upload that is kept, oldest first. */
export const allUploads = (service: Service): UploadEntry[] =>
  [...service.devices.values()].flatMap((device) => device.uploads).sort((a, b) => a.id - b.id);

function sync({ service, segments }: OpenApiCall): object[] {
  const { begin_date: begin = '', end_date: end = '' } = segments;
  if (!isDay(begin) || !isDay(end)) throw badRequest('dates must be YYYYMMDD');
  if (!isSpan(begin, end)) throw badRequest('begin_date is after end_date');
  const { settings } = service;
  const within = allUploads(service).filter(({ at }) => {
    const day = serverDay(at);
    return begin <= day && day <= end;
  });
  return inOrder(within, settings.historyOrder).map((upload) => syncRecord(upload, settings));
}

/** The calls of interface B that only touch the cloud (section 4.2, endpoints 1, 2, 5, 6 and 7). */
export function cloudRoutes({ devicesPath }: Settings): OpenApiRoute[] {
  const spellings = devicesPath === 'both' ? ['list', 'lists'] : [devicesPath];
  return [
    { method: 'GET', path: 'apps/', run: app },
    ...spellings.map((spelling) => ({
      method: 'GET',
      path: `devices/${spelling}/`,
      run: onlineDevices,
    })),
    { method: 'GET', path: 'up_messages/dev/:chipid/', run: uploads },
    { method: 'GET', path: 'push_messages/dev/:chipid/', run: pushes },
    { method: 'GET', path: 'sync/:begin_date/:end_date/', run: sync },
  ];
}
