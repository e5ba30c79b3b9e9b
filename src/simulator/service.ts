import {
  CHANNEL_FORMAT,
  CLOSE_DELETED,
  CLOSE_REPLACED,
  readQuestion,
  readAwayOrder,
  REPLIES_AFTER,
  replyTo,
} from './assumptions';
import { Device } from './device';
import { twice, type DeviceSettings } from './device-options';
import type { Dialect, Push } from './dialect';
import { documentDialect } from './document';
import type { Channel, Faults, UploadEvent } from './faults';
import type { UploadEntry, UploadType } from './history';
import type { Refusal } from './http';
import type { DialectName, Settings } from './options';
import { publicDialect } from './public-2016';
import { Timers } from './timers';

/** How channels are closed. */
export interface CloseOptions {
  /** Close code, default 1001. */
  code?: number;
  /** Breaks the connection off without a closing handshake: the other side sees 1006. */
  terminate?: boolean;
}

/** What is special about an upload. */
export interface UploadOptions {
  /** When the device made it, milliseconds since 1970. Default: now, by the device's clock. */
  made?: number;
  /** `uart_trans`: data of the transparent serial mode, which no history keeps. Default `data_upload`. */
  type?: UploadType;
}

/**
 * Makes another answer of the records that a device's history of uploads should have, oldest first or as
 * the option `historyOrder` says. A bigint is written as a bare integer.
 */
export type HistoryRewrite = (records: readonly object[], chipid: string) => unknown;

/** Bytes that wait for the other side to read: four of the longest frames. */
const MAX_UNREAD = 64 * 1024 * 1024;

/** Terminates a channel whose other side does not read. @returns whether it is still open */
export function keepsUp({ socket }: Channel): boolean {
  if (socket.bufferedAmount <= MAX_UNREAD) return true;
  socket.terminate();
  return false;
}

class Channels {
  readonly #settings: Settings;
  readonly #faults: Faults;
  readonly #open = new Set<Channel>();

  constructor(settings: Settings, faults: Faults) {
    this.#settings = settings;
    this.#faults = faults;
  }

  add(channel: Channel): void {
    if (this.#settings.replace)
      for (const { socket } of this.#of(channel.chipid)) socket.close(CLOSE_REPLACED);
    this.#open.add(channel);
  }

  remove(channel: Channel): void {
    this.#open.delete(channel);
  }

  announce({ chipid, bytes, at, type }: UploadEntry): void {
    const { appid, eventTimestamp } = this.#settings;
    const event: UploadEvent = {
      type,
      appid,
      chipid,
      timestamp: String(Math.floor(eventTimestamp === 's' ? at / 1000 : at)),
      body: bytes.toString('base64'),
    };
    const frame = JSON.stringify(event);
    for (const channel of this.#of(chipid).filter(keepsUp)) {
      const fault = this.#faults.claimEvent(chipid);
      if (fault) fault(channel, event);
      else channel.socket.send(frame);
    }
  }

  /** Closes the channels of one device, or all. */
  close(chipid: string | undefined, { code = 1001, terminate = false }: CloseOptions): void {
    for (const { socket } of this.#of(chipid)) {
      // No side can send 1006: it means a connection that was cut.
      if (terminate || code === 1006) socket.terminate();
      else socket.close(code);
    }
  }

  count(chipid: string | undefined): number {
    return this.#of(chipid).length;
  }

  #of(chipid: string | undefined): Channel[] {
    return [...this.#open].filter((each) => chipid === undefined || each.chipid === chipid);
  }
}

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  document: documentDialect,
  'public-2016': publicDialect,
};

/** The state of the simulated service: one application, its devices and its channels. */
export class Service {
  readonly settings: Settings;
  readonly faults: Faults;
  readonly dialect: Dialect;
  readonly timers = new Timers();
  readonly channels: Channels;
  readonly devices = new Map<string, Device>();
  /** The id of the newest upload. */
  lastUpload = 0;
  /** Whether the application has been deleted (section 2.2). */
  isDeleted = false;
  /** Rewrites each answer of a device's history of uploads, if it is set. */
  rewrite: HistoryRewrite | undefined;
  #lastPush = 0;
  #lastDevice = 0;

  constructor(settings: Settings, faults: Faults) {
    this.settings = settings;
    this.faults = faults;
    this.dialect = DIALECTS[settings.dialect];
    this.channels = new Channels(settings, faults);
    for (const options of settings.devices) this.addDevice(options);
  }

  addDevice(options: DeviceSettings): Device {
    const { chipid } = options;
    if (this.devices.has(chipid)) throw twice(chipid);
    const onWake = (woken: Device): void => this.#uploadReading(woken);
    const device = new Device(options, ++this.#lastDevice, this.settings, this.timers, onWake);
    this.#startReadings(device, this.devices.size);
    this.devices.set(chipid, device);
    return device;
  }

  /** @throws Refusal that `noDevice` makes, by default the dialect's */
  device(chipid: string, noDevice: (chipid: string) => Refusal = this.dialect.noDevice): Device {
    const device = this.devices.get(chipid);
    if (!device) throw noDevice(chipid);
    return device;
  }

  /** Every upload that is kept, oldest first. */
  allUploads(): UploadEntry[] {
    const uploads = [...this.devices.values()].flatMap((device) => device.uploads);
    return uploads.sort((a, b) => a.id - b.id);
  }

  /** Accepts an upload into the history and announces it on the device's channels. */
  upload(device: Device, bytes: Buffer, options: UploadOptions = {}): UploadEntry {
    const { type = 'data_upload' } = options;
    const at = this.settings.now();
    const { made = at + device.settings.clockOffset } = options;
    const isKept = type === 'data_upload';
    const id = isKept ? ++this.lastUpload : 0;
    const accepted: UploadEntry = { id, chipid: device.chipid, bytes, at, made, type };
    device.lastSeen = at;
    if (isKept) device.uploadHistory.add(accepted);
    this.channels.announce(accepted);
    return accepted;
  }

  /** Delivers a push if the device is online, and notes it in the history if the dialect does. */
  push(device: Device, push: Push, isAnswered: boolean): void {
    if (this.dialect.keepsPush(push.via, isAnswered)) this.keepPush(device, push);
    if (device.online) this.deliver(device, push);
  }

  /** Takes a push that came over a channel, as Base64 text (section 6). */
  pushFromChannel(chipid: string, message: string): void {
    const device = this.devices.get(chipid);
    const bytes = Buffer.from(message, 'base64');
    const push: Push = { via: 'channel', format: CHANNEL_FORMAT, message, bytes };
    if (device) this.push(device, push, device.online);
  }

  /** Notes a push in the history. */
  keepPush({ chipid, pushHistory }: Device, { format, message, bytes }: Push): void {
    const at = this.settings.now();
    pushHistory.add({ id: ++this.#lastPush, chipid, format, message, bytes, at });
  }

  /** Lets a device receive a push, and do what it says. */
  deliver(device: Device, { via, format, bytes }: Push): void {
    const text = this.dialect.deviceText(bytes);
    device.receive({ at: this.settings.now(), via, format, bytes, text });
    const question = readQuestion(text);
    if (question) {
      this.#afterAnswer(device, () => {
        const reply = replyTo(question, device.callback(question.get)?.value);
        this.upload(device, Buffer.from(JSON.stringify(reply)));
      });
    }
    const order = readAwayOrder(text);
    if (!order) return;
    this.#afterAnswer(device, () => {
      if (order.kind === 'unplug') this.unplug(device, order.seconds);
      else {
        device.sleep();
        this.timers.after(order.seconds * 1000, () => device.wake());
      }
    });
  }

  /** Lets a device lose its power, and have it again after some seconds. */
  unplug(device: Device, seconds: number): void {
    device.switchOff();
    this.timers.after(seconds * 1000, () => device.switchOn());
  }

  deleteApp(): void {
    this.isDeleted = true;
    this.channels.close(undefined, { code: CLOSE_DELETED });
  }

  /** Puts the uploads back to an old copy, whose newest has the id `lastId`. */
  restore(lastId: number): void {
    this.lastUpload = lastId;
    for (const { uploadHistory } of this.devices.values())
      uploadHistory.cut(({ id }) => id > lastId);
  }

  /** Lets a device act a moment after its answer to a push, if it is online by then. */
  #afterAnswer(device: Device, act: () => void): void {
    this.timers.after(device.answerDelay + REPLIES_AFTER, () => {
      if (device.online) act();
    });
  }

  #uploadReading(device: Device): void {
    if (device.online) this.upload(device, device.measure());
  }

  #startReadings(device: Device, index: number): void {
    const ms = device.interval * 1000;
    if (ms === 0) return;
    // Spread over the interval, so that the devices do not all upload at once.
    const first = ms * (0.2 + 0.8 * ((index * 0.618) % 1));
    this.timers.every(ms, first, () => this.#uploadReading(device));
  }
}
