import { CHANNEL_FORMAT, CLOSE_DELETED } from '../assumptions';
import { createChannels, type Channels } from './channels';
import { createDevice, type Device } from '../devices/device';
import { twice, type DeviceSettings } from '../options/device-options';
import type { Faults } from '../faults/faults';
import type { UploadEntry, UploadType } from '../devices/history';
import type { Dialect, Push } from '../dialects/dialect';
import { documentDialect } from '../dialects/document';
import { publicDialect } from '../dialects/public-2016';
import type { DialectName } from '../options/dialect-defaults';
import type { Settings } from '../options/options';
import type { Refusal } from '../transport/refusal';
import { answerQuestion, obeySleepOrder } from './reply';
import { createTimers, type Timers } from '../util/timers';

/** What is special about an upload. */
export interface UploadOptions {
  /** When the device made it, milliseconds since 1970. Default: now, by the device's clock. */
  made?: number;
  /** `uart_trans`: data of the transparent serial mode, which no history keeps. Default `data_upload`. */
  type?: UploadType;
}

/** The state of the simulated service: one application, its devices and its channels. */
export interface Service {
  readonly settings: Settings;
  readonly dialect: Dialect;
  readonly timers: Timers;
  readonly faults: Faults;
  readonly channels: Channels;
  readonly devices: ReadonlyMap<string, Device>;
  /** The id of the newest upload. */
  readonly lastUpload: number;
  /** Whether the application still exists (section 2.2). */
  readonly deleted: boolean;
  addDevice(settings: DeviceSettings): Device;
  removeDevice(chipid: string): void;
  /** @throws Refusal that `noDevice` makes, by default that of the dialect */
  device(chipid: string, noDevice?: (chipid: string) => Refusal): Device;
  /** Accepts an upload into the history and announces it on the device's channels. */
  upload(device: Device, bytes: Buffer, options?: UploadOptions): UploadEntry;
  /** Delivers a push if the device is online, and notes it in the history if the dialect does. */
  push(device: Device, push: Push, answered: boolean): void;
  /** Notes a push in the history. */
  keepPush(device: Device, push: Push): void;
  /** Lets a device receive a push. */
  deliver(device: Device, push: Push): void;
  deleteApp(): void;
  /** Puts the uploads back to an old copy, whose newest has the id `lastId`. */
  restore(lastId: number): void;
  /** Rewrites each answer of a device's history of uploads, if it is set. */
  rewrite: HistoryRewrite | undefined;
}

/**
 * Makes another answer of the records that a device's history of uploads should have, oldest first or as
 * the option `historyOrder` says. A bigint is written as a bare integer.
 */
export type HistoryRewrite = (records: readonly object[], chipid: string) => unknown;

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  document: documentDialect,
  'public-2016': publicDialect,
};

export function createService(settings: Settings, faults: Faults): Service {
  const dialect = DIALECTS[settings.dialect];
  const timers = createTimers();
  const channels = createChannels(settings, faults);
  const devices = new Map<string, Device>();
  const uploadTimers = new Map<string, () => void>();
  let lastUpload = 0;
  let lastPush = 0;
  let lastDevice = 0;
  let deleted = false;

  const upload: Service['upload'] = (device, bytes, { made, type = 'data_upload' } = {}) => {
    const at = settings.now();
    const isKept = type === 'data_upload';
    const accepted: UploadEntry = {
      ...{ id: isKept ? ++lastUpload : 0, chipid: device.chipid, bytes, at, type },
      made: made ?? at + device.settings.clockOffset,
    };
    device.lastSeen = at;
    if (isKept) device.uploadHistory.add(accepted);
    channels.announce(accepted);
    return accepted;
  };

  const uploadReading = (device: Device): void => {
    if (device.online) upload(device, nextReading(device));
  };

  const startReadings = (device: Device, index: number): void => {
    const ms = (device.settings.interval ?? settings.interval) * 1000;
    if (ms === 0) return;
    // Spread over the interval, so that the devices do not all upload at once.
    const first = ms * (0.2 + 0.8 * ((index * 0.618) % 1));
    const stop = timers.every(ms, first, () => uploadReading(device));
    uploadTimers.set(device.chipid, stop);
  };

  const service: Service = {
    settings,
    dialect,
    timers,
    faults,
    channels,
    devices,
    get lastUpload() {
      return lastUpload;
    },
    get deleted() {
      return deleted;
    },
    addDevice(options) {
      if (devices.has(options.chipid)) throw twice(options.chipid);
      const id = ++lastDevice;
      const device = createDevice(options, id, settings, timers, {
        onWake: uploadReading,
        onConnect: (back) => {
          for (const { bytes, made } of back.held.splice(0)) upload(back, bytes, { made });
        },
      });
      startReadings(device, devices.size);
      devices.set(options.chipid, device);
      return device;
    },
    removeDevice(chipid) {
      uploadTimers.get(chipid)?.();
      uploadTimers.delete(chipid);
      devices.get(chipid)?.switchOff();
      devices.get(chipid)?.stop();
      devices.delete(chipid);
      channels.close(chipid, { code: CLOSE_DELETED });
    },
    device(chipid, noDevice = dialect.noDevice) {
      const device = devices.get(chipid);
      if (!device) throw noDevice(chipid);
      return device;
    },
    upload,
    push(device, push, answered) {
      if (dialect.keepsPush(push.via, answered)) service.keepPush(device, push);
      if (device.online) service.deliver(device, push);
    },
    keepPush(device, { format, message, bytes }) {
      const at = settings.now();
      device.pushHistory.add({ id: ++lastPush, chipid: device.chipid, format, message, bytes, at });
    },
    deliver(device, { via, format, bytes }) {
      const text = dialect.deviceText(bytes);
      device.receive({ at: settings.now(), via, format, bytes, text });
      answerQuestion(service, device, text);
      obeySleepOrder(service, device, text);
    },
    deleteApp() {
      deleted = true;
      channels.close(undefined, { code: CLOSE_DELETED });
    },
    restore(lastId) {
      lastUpload = lastId;
      for (const { uploadHistory } of devices.values()) uploadHistory.cut(({ id }) => id > lastId);
    },
    rewrite: undefined,
  };
  for (const options of settings.devices) service.addDevice(options);
  return service;
}

/** The next reading of a device, as the JSON text that it uploads. */
export const nextReading = (device: Device): Buffer =>
  Buffer.from(JSON.stringify(device.sensor.step(device.relay)));

/** A push that came over a channel, as Base64 text (section 6). */
export const channelPush = (message: string): Push => ({
  via: 'channel',
  format: CHANNEL_FORMAT,
  message,
  bytes: Buffer.from(message, 'base64'),
});
