import type { WatchShare } from './share';
import { isolated } from '../../util/thrown';
import type { WatchSettings } from './watch-options';
import { EVENTS, type FleetEvent, type FleetEventName, type WatchListener } from './watch-types';
import type { WatchedDevice } from './watched-devices';

/** The share of an emitter if several processes watch. */
export interface EmitterShare extends Pick<WatchShare, 'mayEmit' | 'emitsForAll'> {
  changed(chipid: string): void;
}

/**
 * Passes events to the listener of a watch, and decides which states are events: with `none` only changes,
 * with `current` also the first state of each device, once the list has been read.
 */
export class WatchEmitter {
  /** With `current`, before the first reading: states are not emitted yet. */
  #held: boolean;
  #closed = false;

  constructor(
    private readonly appid: string,
    private readonly settings: WatchSettings,
    private readonly listener: WatchListener,
    private readonly nameOf: (device: WatchedDevice) => string | null,
    /** With a cluster: which events this process emits, and who is to know of changes. */
    private readonly share?: EmitterShare,
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
    if (was !== null || this.settings.start === 'current') this.#emitPresence(device);
  }

  channelChanged(device: WatchedDevice, was: boolean | null): void {
    this.stateChanged();
    this.share?.changed(device.chipid);
    if (was !== null || this.settings.start === 'current') this.#emitChannel(device);
  }

  /** The list has been read for the first time. */
  firstReading(devices: Iterable<WatchedDevice>): void {
    this.stateChanged();
    if (this.settings.start === 'none') return;
    this.#held = false;
    this.#emitFirst(devices);
  }

  /** Emits the first states of devices that this process holds by now and that no process has emitted. */
  catchUp(devices: Iterable<WatchedDevice>): void {
    if (this.#held || this.settings.start === 'none') return;
    this.#emitFirst(devices);
  }

  /** The list cannot be read: uploads show who is online all the same. */
  listFailed(devices: Iterable<WatchedDevice>): void {
    if (!this.#held) return;
    this.#held = false;
    for (const device of devices) this.#emitChannel(device);
  }

  emit(event: FleetEventName, device: WatchedDevice, more: Partial<FleetEvent> = {}): void {
    const { chipid, presence } = device;
    if (!this.#mayEmit(device)) return;
    const { online, since, lastUpload } = presence;
    this.#pass(event, { chipid, online, name: this.nameOf(device), since, lastUpload, ...more });
  }

  /** Emits an event that concerns all devices. */
  emitForAll(event: 'known' | 'unknown', since: number | null, reason?: string): void {
    if (this.share && !this.share.emitsForAll) return;
    const none = { chipid: undefined, online: null, name: null, lastUpload: null };
    this.#pass(event, { ...none, since, ...(reason === undefined ? {} : { reason }) });
  }

  /** What is kept until the next start has changed. */
  stateChanged(): void {
    if (!this.#closed) isolated(() => this.listener.onState?.());
  }

  wasRead(invalid: number): void {
    if (!this.#closed) isolated(() => this.listener.onReading?.(invalid));
  }

  notRead(error: unknown): void {
    if (!this.#closed) isolated(() => this.listener.onReadError?.(error));
  }

  #emitFirst(devices: Iterable<WatchedDevice>): void {
    for (const device of devices) {
      if (!device.presenceEmitted) this.#emitPresence(device);
      if (!device.channelEmitted) this.#emitChannel(device);
    }
  }

  #mayEmit({ chipid }: WatchedDevice): boolean {
    return this.share?.mayEmit(chipid) ?? true;
  }

  #emitPresence(device: WatchedDevice): void {
    const { online } = device.presence;
    if (this.#held || online === null || !this.#mayEmit(device)) return;
    device.presenceEmitted = true;
    this.emit(online ? 'online' : 'offline', device);
  }

  #emitChannel(device: WatchedDevice): void {
    const { channel } = device;
    if (this.#held || !channel || channel.connected === null || !this.#mayEmit(device)) return;
    device.channelEmitted = true;
    const { connected, reason } = channel;
    if (connected) this.emit('connected', device);
    else this.emit('disconnected', device, reason === undefined ? {} : { reason });
  }

  #pass(event: FleetEventName, of: Omit<FleetEvent, 'event' | 'appid'>): void {
    if (this.#closed || !this.settings.events.has(EVENTS[event])) return;
    isolated(() => this.listener.onEvent({ event, appid: this.appid, ...of }));
  }
}
