import type { Device } from '../devices/device';
import { inOrder, syncRecord, uploadRecord, type UploadEntry } from '../devices/history';
import { pathDevice, type OpenApiCall, type OpenApiRoute } from './open-api-call';
import type { Settings } from '../options/options';
import { serverTime } from '../util/time';
import type { Service } from '../service/service';

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

function onlineDevices({ service: { settings, dialect, devices } }: OpenApiCall): object[] {
  const online = [...devices.values()].filter((device) => device.online);
  return online.flatMap((device) => {
    const records = [deviceRecord(device, dialect.latest(device), settings)];
    if (device.staleLatest !== undefined) {
      records.push(deviceRecord(device, device.staleLatest, settings));
    }
    return records;
  });
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

/** Every upload that is kept, oldest first. */
export const allUploads = (service: Service): UploadEntry[] =>
  [...service.devices.values()].flatMap((device) => device.uploads).sort((a, b) => a.id - b.id);

function sync({ service, segments }: OpenApiCall): object[] {
  const { begin_date: begin = '', end_date: end = '' } = segments;
  const isWithin = service.dialect.readSpan(begin, end);
  return written(allUploads(service).filter(isWithin), service, syncRecord);
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
