import { isolated } from '../../util/thrown';
import {
  EVENTS,
  type FleetEvent,
  type FleetEventName,
  type WatchListener,
  type WatchPlace,
  type WatchSettings,
  type WatchShare,
} from './watch-types';
import type { WatchedDevice } from './watched-devices';

/**
 * Passes events to the listener of a watch, and decides which states are events: with `none` only changes,
 * with `current` also the first state of each device, once the list has been read.
 */
export class WatchEmitter {
  /** The place of the watch among other processes, which get its changes. */
  place: WatchPlace | undefined;
  readonly #appid: string;
  readonly #settings: WatchSettings;
  readonly #listener: WatchListener;
  readonly #nameOf: (device: WatchedDevice) => string | null;
  readonly #share: WatchShare | undefined;
  /** With `current`, before the first reading: states are not emitted yet. */
  #isHeld: boolean;
  #isClosed = false;

  /** @param share which process emits an event; undefined if this is the only one */
  constructor(
    appid: string,
    settings: WatchSettings,
    listener: WatchListener,
    nameOf: (device: WatchedDevice) => string | null,
    share: WatchShare | undefined,
  ) {
    this.#appid = appid;
    this.#settings = settings;
    this.#listener = listener;
    this.#nameOf = nameOf;
    this.#share = share;
    this.#isHeld = settings.start === 'current';
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** @param was null if nothing was known of it */
  presenceChanged(device: WatchedDevice, was: boolean | null): void {
    this.deviceChanged(device);
    if (was !== null || this.#settings.start === 'current') this.#emitPresence(device);
  }

  channelChanged(device: WatchedDevice, was: boolean | null): void {
    this.deviceChanged(device);
    if (was !== null || this.#settings.start === 'current') this.#emitChannel(device);
  }

  firstReading(devices: Iterable<WatchedDevice>): void {
    this.stateChanged();
    this.#isHeld = false;
    this.catchUp(devices);
  }

  /** Emits the first states of devices that this process holds by now and that no process has emitted. */
  catchUp(devices: Iterable<WatchedDevice>): void {
    if (this.#isHeld || this.#settings.start === 'none') return;
    for (const device of devices) {
      if (!device.isPresenceEmitted) this.#emitPresence(device);
      if (!device.isChannelEmitted) this.#emitChannel(device);
    }
  }

  /** The list cannot be read: uploads show who is online all the same. */
  listFailed(devices: Iterable<WatchedDevice>): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    for (const device of devices) this.#emitChannel(device);
  }

  emit(event: FleetEventName, device: WatchedDevice, more: Partial<FleetEvent> = {}): void {
    const { chipid, presence } = device;
    if (!this.mayEmit(chipid)) return;
    const { online, since, lastUpload } = presence;
    this.#pass(event, { chipid, online, name: this.#nameOf(device), since, lastUpload, ...more });
  }

  /** Emits an event that concerns all devices. */
  emitForAll(event: 'known' | 'unknown', since: number | null, reason?: string): void {
    if (this.#share && !this.#share.emitsForAll) return;
    const none = { chipid: undefined, online: null, name: null, lastUpload: null };
    this.#pass(event, { ...none, since, ...(reason === undefined ? {} : { reason }) });
  }

  /** Whether this process emits the events of a device. */
  mayEmit(chipid: string): boolean {
    return this.#share?.mayEmit(chipid) ?? true;
  }

  deviceChanged({ chipid }: WatchedDevice): void {
    this.stateChanged();
    this.place?.changed(chipid);
  }

  /** What is kept until the next start has changed. */
  stateChanged(): void {
    this.notify((listener) => listener.onState?.());
  }

  /** Calls the listener, unless the watch has ended. */
  notify(call: (listener: WatchListener) => unknown): void {
    if (!this.#isClosed) isolated(() => call(this.#listener));
  }

  #emitPresence(device: WatchedDevice): void {
    const { online } = device.presence;
    if (this.#isHeld || online === null || !this.mayEmit(device.chipid)) return;
    device.isPresenceEmitted = true;
    this.emit(online ? 'online' : 'offline', device);
  }

  #emitChannel(device: WatchedDevice): void {
    const { channel } = device;
    if (this.#isHeld || !channel || channel.connected === null || !this.mayEmit(device.chipid))
      return;
    device.isChannelEmitted = true;
    const { connected, reason } = channel;
    if (connected) this.emit('connected', device);
    else this.emit('disconnected', device, reason === undefined ? {} : { reason });
  }

  #pass(event: FleetEventName, of: Omit<FleetEvent, 'event' | 'appid'>): void {
    if (this.#settings.events.has(EVENTS[event]))
      this.notify((listener) => listener.onEvent({ event, appid: this.#appid, ...of }));
  }
}
