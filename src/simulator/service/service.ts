import { CHANNEL_FORMAT, CLOSE_DELETED } from '../assumptions';
import { createChannels, type Channels } from './channels';
import { createDevice, type Device } from '../devices/device';
import { twice, type DeviceSettings } from '../options/device-options';
import type { Faults } from '../faults/faults';
import { messageBytes } from './formats';
import type { UploadEntry } from '../devices/history';
import type { Settings } from '../options/options';
import { notFound } from '../transport/refusal';
import { answerQuestion, obeySleepOrder } from './reply';
import type { Received } from '../devices/simulated-device';
import { createTimers, type Timers } from '../util/timers';

/** A push on its way to a device. */
export type Push = Pick<Received, 'via' | 'format' | 'bytes'> & { readonly message: string };

/** The state of the simulated service: one application, its devices and its channels. */
export interface Service {
  readonly settings: Settings;
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
  /** @throws Refusal 404 */
  device(chipid: string): Device;
  /** Accepts an upload into the history and announces it on the device's channels. */
  upload(device: Device, bytes: Buffer): UploadEntry;
  /** Notes a push in the history and, if the device is online, delivers it. */
  push(device: Device, push: Push): void;
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

export function createService(settings: Settings, faults: Faults): Service {
  const timers = createTimers();
  const channels = createChannels(settings, faults);
  const devices = new Map<string, Device>();
  const uploadTimers = new Map<string, () => void>();
  let lastUpload = 0;
  let lastPush = 0;
  let deleted = false;

  const upload = (device: Device, bytes: Buffer): UploadEntry => {
    const at = settings.now();
    const accepted: UploadEntry = { id: ++lastUpload, chipid: device.chipid, bytes, at };
    device.lastSeen = at;
    device.uploadHistory.add(accepted);
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
      const device = createDevice(options, settings, timers, uploadReading);
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
    device(chipid) {
      const device = devices.get(chipid);
      if (!device) throw notFound(`there is no device ${chipid.slice(0, 40)}`);
      return device;
    },
    upload,
    push(device, { via, format, message, bytes }) {
      const at = settings.now();
      device.pushHistory.add({ id: ++lastPush, chipid: device.chipid, format, message, bytes, at });
      if (device.online) {
        const text = bytes.toString('utf8');
        device.receive({ at, via, format, bytes, text });
        answerQuestion(service, device, text);
        obeySleepOrder(service, device, text);
      }
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
  bytes: messageBytes(message, CHANNEL_FORMAT),
});
