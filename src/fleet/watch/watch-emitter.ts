import { isolated } from '../../util/thrown';
import type { Alarm, AlarmEvent } from '../limits';
import {
  EVENTS,
  type FleetEvent,
  type FleetEventName,
  type WatchListener,
  type WatchSettings,
} from './watch-types';
import type { WatchedDevice } from './watched-devices';

/**
 * Passes events to the listener of a watch, and decides which states are events: with `none` only changes,
 * with `current` also the first state of each device, once the list has been read.
 */
export class WatchEmitter {
  readonly #appid: string;
  readonly #settings: WatchSettings;
  readonly #listener: WatchListener;
  readonly #nameOf: (device: WatchedDevice) => string | null;
  readonly #alarmsOf: (device: WatchedDevice) => readonly Alarm[];
  /** With `current`, before the first reading: states are not emitted yet. */
  #isHeld: boolean;
  #isClosed = false;

  constructor(
    appid: string,
    settings: WatchSettings,
    listener: WatchListener,
    nameOf: (device: WatchedDevice) => string | null,
    alarmsOf: (device: WatchedDevice) => readonly Alarm[],
  ) {
    this.#appid = appid;
    this.#settings = settings;
    this.#listener = listener;
    this.#nameOf = nameOf;
    this.#alarmsOf = alarmsOf;
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
    this.stateChanged(device);
    if (was !== null || this.#settings.start === 'current') this.#emitPresence(device);
  }

  channelChanged(device: WatchedDevice, was: boolean | null): void {
    this.stateChanged(device);
    if (was !== null || this.#settings.start === 'current') this.#emitChannel(device);
  }

  alarmChanged(device: WatchedDevice, event: AlarmEvent, alarm: Alarm): void {
    if (!this.#isHeld) this.emit(event, device, alarm);
  }

  firstReading(devices: Iterable<WatchedDevice>): void {
    this.stateChanged();
    const wasHeld = this.#isHeld;
    this.#isHeld = false;
    if (this.#settings.start === 'none') return;
    for (const device of devices) {
      if (!device.isPresenceEmitted) this.#emitPresence(device);
      if (!device.isChannelEmitted) this.#emitChannel(device);
      if (wasHeld) this.#emitAlarms(device);
    }
  }

  /** The list cannot be read: uploads show who is online all the same. */
  listFailed(devices: Iterable<WatchedDevice>): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    for (const device of devices) {
      this.#emitChannel(device);
      this.#emitAlarms(device);
    }
  }

  emit(event: FleetEventName, device: WatchedDevice, more: Partial<FleetEvent> = {}): void {
    const { chipid, presence } = device;
    const { online, since, lastUpload } = presence;
    this.#pass(event, { chipid, online, name: this.#nameOf(device), since, lastUpload, ...more });
  }

  /** Emits an event that concerns all devices. */
  emitForAll(event: 'known' | 'unknown', since: number | null, reason?: string): void {
    const none = { chipid: undefined, online: null, name: null, lastUpload: null };
    this.#pass(event, { ...none, since, ...(reason === undefined ? {} : { reason }) });
  }

  /** What is kept until the next start has changed. @param device of which; undefined: of the list */
  stateChanged(device?: WatchedDevice): void {
    this.notify((listener) => listener.onState?.(device?.chipid));
  }

  /** Calls the listener, unless the watch has ended. */
  notify(call: (listener: WatchListener) => unknown): void {
    if (!this.#isClosed) isolated(() => call(this.#listener));
  }

  #emitPresence(device: WatchedDevice): void {
    const { online } = device.presence;
    if (this.#isHeld || online === null) return;
    device.isPresenceEmitted = true;
    this.emit(online ? 'online' : 'offline', device);
  }

  #emitChannel(device: WatchedDevice): void {
    const { channel } = device;
    if (this.#isHeld || !channel || channel.connected === null) return;
    device.isChannelEmitted = true;
    const { connected, reason } = channel;
    if (connected) this.emit('connected', device);
    else this.emit('disconnected', device, reason === undefined ? {} : { reason });
  }

  #emitAlarms(device: WatchedDevice): void {
    for (const alarm of this.#alarmsOf(device)) this.emit('alarm', device, alarm);
  }

  #pass(event: FleetEventName, of: Omit<FleetEvent, 'event' | 'appid'>): void {
    if (this.#settings.events.has(EVENTS[event]))
      this.notify((listener) => listener.onEvent({ event, appid: this.#appid, ...of }));
  }
}
