import { isolated } from '../util/isolated';
import type { WatchSettings } from './watch-options';
import { EVENTS, type FleetEvent, type FleetEventName, type WatchListener } from './watch-types';
import type { WatchedDevice } from './watched-devices';

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
    if (was !== null || this.settings.start === 'current') this.#tellPresence(device);
  }

  channelChanged(device: WatchedDevice, was: boolean | null): void {
    this.stateChanged();
    if (was !== null || this.settings.start === 'current') this.#tellChannel(device);
  }

  /** The list has been read for the first time. */
  firstReading(devices: Iterable<WatchedDevice>): void {
    this.stateChanged();
    if (this.settings.start === 'none') return;
    this.#held = false;
    for (const device of devices) {
      if (!device.presenceTold) this.#tellPresence(device);
      if (!device.channelTold) this.#tellChannel(device);
    }
  }

  /** The list cannot be read: uploads tell who is online all the same. */
  listFailed(devices: Iterable<WatchedDevice>): void {
    if (!this.#held) return;
    this.#held = false;
    for (const device of devices) this.#tellChannel(device);
  }

  tell(event: FleetEventName, device: WatchedDevice, more: Partial<FleetEvent> = {}): void {
    const { chipid, presence } = device;
    const { online, since, lastUpload } = presence;
    this.#pass(event, { chipid, online, name: this.nameOf(device), since, lastUpload, ...more });
  }

  /** Tells of an event that concerns all devices. */
  tellOfAll(event: 'known' | 'unknown', since: number | null, reason?: string): void {
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

  #tellPresence(device: WatchedDevice): void {
    const { online } = device.presence;
    if (this.#held || online === null) return;
    device.presenceTold = true;
    this.tell(online ? 'online' : 'offline', device);
  }

  #tellChannel(device: WatchedDevice): void {
    const { channel } = device;
    if (this.#held || !channel || channel.connected === null) return;
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
