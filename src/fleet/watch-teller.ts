import type { WatchShare } from '../sharing/shared-watches';
import { isolated } from '../util/isolated';
import type { WatchSettings } from './watch-options';
import { EVENTS, type FleetEvent, type FleetEventName, type WatchListener } from './watch-types';
import type { WatchedDevice } from './watched-devices';

/** What a teller asks where several processes watch. */
export interface TellerShare extends Pick<WatchShare, 'mayTell' | 'tellsOfAll'> {
  changed(chipid: string): void;
}

/**
 * Passes events to the listener of a watch, and decides which states are told: of `none` only changes, of
 * `current` also the first state of each device, once the list has been read.
 */
export class Teller {
  /** Of `current`, before the first reading: states are not told yet. */
  #held: boolean;
  #closed = false;

  constructor(
    private readonly appid: string,
    private readonly settings: WatchSettings,
    private readonly listener: WatchListener,
    private readonly nameOf: (device: WatchedDevice) => string | null,
    /** With a cluster: which events this process tells, and who is to know of changes. */
    private readonly share?: TellerShare,
  ) {
    this.#held = settings.start === 'current';
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
  }

  /** @param was null if nothing was known of it */
  presenceChanged(device: WatchedDevice, was: boolean | null): void {
    this.stateChanged();
    this.share?.changed(device.chipid);
    if (was !== null || this.settings.start === 'current') this.#tellPresence(device);
  }

  channelChanged(device: WatchedDevice, was: boolean | null): void {
    this.stateChanged();
    this.share?.changed(device.chipid);
    if (was !== null || this.settings.start === 'current') this.#tellChannel(device);
  }

  /** The list has been read for the first time. */
  firstReading(devices: Iterable<WatchedDevice>): void {
    this.stateChanged();
    if (this.settings.start === 'none') return;
    this.#held = false;
    this.#tellFirst(devices);
  }

  /** Devices may be this process's by now, of which nobody has told the first state. */
  catchUp(devices: Iterable<WatchedDevice>): void {
    if (this.#held || this.settings.start === 'none') return;
    this.#tellFirst(devices);
  }

  /** The list cannot be read: uploads tell who is online all the same. */
  listFailed(devices: Iterable<WatchedDevice>): void {
    if (!this.#held) return;
    this.#held = false;
    for (const device of devices) this.#tellChannel(device);
  }

  tell(event: FleetEventName, device: WatchedDevice, more: Partial<FleetEvent> = {}): void {
    const { chipid, presence } = device;
    if (!this.#mayTell(device)) return;
    const { online, since, lastUpload } = presence;
    this.#pass(event, { chipid, online, name: this.nameOf(device), since, lastUpload, ...more });
  }

  /** Tells of an event that concerns all devices. */
  tellOfAll(event: 'known' | 'unknown', since: number | null, reason?: string): void {
    if (this.share && !this.share.tellsOfAll) return;
    const none = { chipid: undefined, online: null, name: null, lastUpload: null };
    this.#pass(event, { ...none, since, ...(reason === undefined ? {} : { reason }) });
  }

  /** What is kept until the next start has changed. */
  stateChanged(): void {
    if (!this.#closed) isolated(() => this.listener.onState?.());
  }

  wasRead(): void {
    if (!this.#closed) isolated(() => this.listener.onReading?.());
  }

  notRead(error: unknown): void {
    if (!this.#closed) isolated(() => this.listener.onReadError?.(error));
  }

  #tellFirst(devices: Iterable<WatchedDevice>): void {
    for (const device of devices) {
      if (!device.presenceTold) this.#tellPresence(device);
      if (!device.channelTold) this.#tellChannel(device);
    }
  }

  #mayTell({ chipid }: WatchedDevice): boolean {
    return this.share?.mayTell(chipid) ?? true;
  }

  #tellPresence(device: WatchedDevice): void {
    const { online } = device.presence;
    if (this.#held || online === null || !this.#mayTell(device)) return;
    device.presenceTold = true;
    this.tell(online ? 'online' : 'offline', device);
  }

  #tellChannel(device: WatchedDevice): void {
    const { channel } = device;
    if (this.#held || !channel || channel.connected === null || !this.#mayTell(device)) return;
    device.channelTold = true;
    const { connected, reason } = channel;
    if (connected) this.tell('connected', device);
    else this.tell('disconnected', device, reason === undefined ? {} : { reason });
  }

  #pass(event: FleetEventName, of: Omit<FleetEvent, 'event' | 'appid'>): void {
    if (this.#closed || !this.settings.events.has(EVENTS[event])) return;
    isolated(() => this.listener.onEvent({ event, appid: this.appid, ...of }));
  }
}
