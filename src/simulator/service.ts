import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Channels } from './channels';
import { Device, type DeviceSettings } from './device';
import type { Dialect, Push, Silence, Wait } from './document';
import { Faults } from './faults';
import { keep, type Form, type FrameRecord, type OpenRecord } from './history';
import type { UploadEntry, UploadType } from './history';
import { OptionError, type Settings } from './options';

/** What is special about an upload. */
export interface UploadOptions {
  /** When the device made it, milliseconds since 1970. Default: now, by the service's clock. */
  made?: number;
  /** `uart_trans`: data of the transparent serial mode, which no history keeps. Default `data_upload`. */
  type?: UploadType;
}

/**
 * Makes another answer of the records that a device's history of uploads should have, in the order of the dialect.
 * A bigint is written as a bare integer.
 */
export type HistoryRewrite = (records: readonly object[], chipid: string) => unknown;

/** Assumed: milliseconds from a device's answer to a push until it does what the push says. */
const ACTS_AFTER = 100;

/** All timers of one simulator, so that {@link close} can clear them. */
class Timers {
  readonly #running = new Set<NodeJS.Timeout>();
  #isClosed = false;

  /** Runs once after `ms`. @returns a function that cancels it */
  after(ms: number, run: () => void): () => void {
    if (this.#isClosed) return () => undefined;
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      run();
    }, ms);
    this.#running.add(timer);
    return () => {
      clearTimeout(timer);
      this.#running.delete(timer);
    };
  }

  /** Runs every `ms`, the first time after `first`. */
  every(ms: number, first: number, run: () => void): void {
    this.after(first, () => {
      this.every(ms, ms, run);
      run();
    });
  }

  /** Clears every timer and sets no further one. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}

/** The application (section 2.2) and its devices, which the interfaces work on. */
export class Service {
  readonly settings: Settings;
  readonly dialect: Dialect;
  /** How histories are written. */
  readonly form: Form;
  readonly faults = new Faults();
  readonly timers = new Timers();
  readonly requests: OpenRecord[] = [];
  readonly frames: FrameRecord[] = [];
  readonly channels: Channels;
  readonly devices = new Map<string, Device>();
  /** The open TCP connections. */
  readonly connections = new Set<Socket>();
  /** Rewrites each answer of a device's history of uploads, if it is set. */
  rewrite: HistoryRewrite | undefined;
  #lastUpload = 0;
  #lastPush = 0;

  constructor(settings: Settings) {
    this.settings = settings;
    const { dialect, appName, historyEncoding } = settings;
    this.dialect = dialect;
    this.form = { appName, historyEncoding, zone: dialect.zone };
    this.channels = new Channels(this);
  }

  /** Adds a device, switched on. @throws OptionError if it exists already */
  addDevice(options: DeviceSettings): Device {
    const { chipid } = options;
    const { size } = this.devices;
    if (this.devices.has(chipid)) {
      throw new OptionError('chipid of a device', `${chipid} is there twice`);
    }
    const device = new Device(options, size + 1, this);
    this.devices.set(chipid, device);
    const ms = this.settings.interval * 1000;
    // Spread over the interval, so that the devices do not all upload at once.
    const first = ms * (0.2 + 0.8 * ((size * 0.618) % 1));
    if (ms > 0) this.timers.every(ms, first, () => this.uploadReading(device));
    return device;
  }

  /** Goes on with the histories, names and pins of one that has ended. */
  goOn(before: Service): void {
    this.#lastUpload = before.#lastUpload;
    this.#lastPush = before.#lastPush;
    for (const device of this.devices.values()) {
      const same = before.devices.get(device.chipid);
      if (same) device.goOn(same);
    }
  }

  /** @throws Refusal */
  device(chipid: string): Device {
    const device = this.devices.get(chipid);
    if (!device) throw this.dialect.noDevice(chipid);
    return device;
  }

  online(): Device[] {
    return [...this.devices.values()].filter((device) => device.online);
  }

  /** Every upload that is kept, oldest first. */
  allUploads(): UploadEntry[] {
    const uploads = [...this.devices.values()].flatMap((device) => device.uploads);
    return uploads.sort((a, b) => a.id - b.id);
  }

  /** Accepts an upload into the history and announces it on the device's channels. */
  upload(device: Device, bytes: Buffer, options: UploadOptions = {}): UploadEntry {
    const at = this.settings.now();
    const { made = at, type = 'data_upload' } = options;
    const isKept = type === 'data_upload';
    const id = isKept ? ++this.#lastUpload : 0;
    const accepted: UploadEntry = { id, chipid: device.chipid, bytes, at, made, type };
    device.lastSeen = at;
    if (isKept) keep(device.uploads, accepted);
    this.channels.announce(accepted);
    return accepted;
  }

  /** Lets a device upload its next reading, if it is online. */
  uploadReading(device: Device): void {
    if (device.online) this.upload(device, device.measure());
  }

  /**
   * Calls a device and waits for its answer (sections 4.2.3 and 4.2.11). The device acts as soon as the
   * call arrives and answers after its delay; a device that is away does neither.
   * @param act what the device does; the result is its answer
   * @param signal ends the waiting when the client has gone
   * @throws Refusal if the device does not answer
   */
  async call<T>(
    device: Device,
    act: () => T,
    signal: AbortSignal,
    wait: Wait = 'call',
  ): Promise<T> {
    const limit = this.settings.waits[wait];
    const fail = async (why: Silence, waited: number): Promise<never> => {
      const left = why === 'away' && this.dialect.knowsWhoIsAway ? 0 : limit - waited;
      if (left > 0) await sleep(left, undefined, { signal });
      throw this.dialect.unanswered(device.chipid, wait, why);
    };
    if (!device.online) return fail('away', 0);
    device.maxInFlight = Math.max(device.maxInFlight, ++device.inFlight);
    try {
      const answer = act();
      // A reboot counts as a departure itself, and is answered: so this is read after acting.
      const { departures, answerDelay } = device;
      const waited = Math.min(answerDelay, limit);
      if (waited > 0) await sleep(waited, undefined, { signal });
      if (device.departures !== departures) return await fail('away', waited);
      if (answerDelay > limit) return await fail('silent', waited);
      device.lastSeen = this.settings.now();
      return answer;
    } finally {
      device.inFlight--;
    }
  }

  /** Pushes to a device and waits for its answer. The dialect says whether the history has a push without one. */
  async push(device: Device, push: Push, signal: AbortSignal): Promise<void> {
    const isKeptAnyway = this.dialect.keepsPush(push.via, false);
    if (isKeptAnyway) this.#keepPush(device, push);
    await this.call(device, () => this.#deliver(device, push), signal, 'push');
    if (!isKeptAnyway) this.#keepPush(device, push);
  }

  /** Pushes to a device, and waits for nothing. */
  send(device: Device, push: Push): void {
    const { online } = device;
    if (this.dialect.keepsPush(push.via, online)) this.#keepPush(device, push);
    if (online) this.#deliver(device, push);
  }

  #keepPush({ chipid, pushes }: Device, { format, message, bytes }: Push): void {
    const at = this.settings.now();
    keep(pushes, { id: ++this.#lastPush, chipid, format, message, bytes, at });
  }

  /** Lets a device receive a push, and do what it says a moment after its answer, if it is online by then. */
  #deliver(device: Device, { via, format, bytes }: Push): void {
    const text = this.dialect.deviceText(bytes);
    keep(device.received, { at: this.settings.now(), via, format, bytes, text });
    if (!text.startsWith('{')) return;
    this.timers.after(device.answerDelay + ACTS_AFTER, () => {
      const reply = device.online && device.obey(text);
      if (reply) this.upload(device, Buffer.from(JSON.stringify(reply)));
    });
  }
}
