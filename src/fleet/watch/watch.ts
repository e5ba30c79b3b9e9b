import type { Alarm } from '../limits';
import type { FleetDevice } from '../devices';
import type { ListPoller, ListReading } from '../list-poller';
import type { FleetRegistry } from '../registry';
import { isDeviceCloudError } from '../../errors';
import { parseChipid, isolated } from '../../input/values';
import type { Chipid } from '../../types';
import { isObject } from '../../util/json';
import {
  EVENTS,
  MAX_WATCHED,
  readSaved,
  type FleetEvent,
  type FleetEventName,
  type SavedDevice,
  type WatchKeeping,
  type WatchListener,
  type WatchSettings,
} from './watch-types';
import { WatchedDevice } from './watched-device';

/** What a watch observes. */
export interface WatchSource {
  readonly appid: string;
  /** It learns of each reading of the list, and of each upload, first. */
  readonly registry: Pick<FleetRegistry, 'get' | 'devices' | 'addWatcher' | 'isOnline' | 'name'>;
  readonly poller: Pick<ListPoller, 'poll'>;
  /** This machine's clock, in ms. */
  readonly now: () => number;
  /** For silences and lost channels: a clock that is never set, in ms. */
  readonly clock?: () => number;
  /** Is called when the watch has ended. */
  readonly ended?: (watch: Watch) => void;
  /** Default: nothing is kept. */
  readonly keeping?: WatchKeeping | undefined;
}

/** Stands for what is kept of the list, beside the chip numbers. */
const LIST = 'list';

/** Devices that are forgotten at once to make room. */
const BATCH = 500;

/** Milliseconds between two looks for devices that are silent and channels that stay down. */
const LOOK = 1000;

/** Readings in a row that fail before nothing is known of the devices any more. */
const FAILURES = 3;

/**
 * A watch that runs: makes events of what the registry and the poller show. With `start: none` only changes are events, with
 * `current` also the first state of each device, once the list has been read.
 */
export class Watch {
  readonly #source: WatchSource;
  readonly #listener: WatchListener;
  #settings: WatchSettings;
  readonly #clock: () => number;
  readonly #devices = new Map<string, WatchedDevice>();
  /** There is no room until a device may have gone offline. */
  #isFull = false;
  /** Readings of the list in a row that failed. */
  #failures = 0;
  /** When the first of them was, in ms. */
  #failingSince: number | null = null;
  /** Whether the list failed too often in a row. */
  #isUnknown = false;
  /** Whether a device that is not known was offline, rather than not looked for. */
  #isComplete = false;
  /** Whether the list has been read since the start. */
  #isReady = false;
  /** With `current`, before the first reading: states are not emitted yet. */
  #isHeld: boolean;
  #isClosed = false;
  readonly #leave: (() => void)[] = [];
  /** What has changed in this turn, whose events a flow has not passed on yet. */
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(source: WatchSource, settings: WatchSettings, listener: WatchListener) {
    this.#source = source;
    this.#settings = settings;
    this.#listener = listener;
    this.#isHeld = settings.start === 'current';
    this.#clock = source.clock ?? (() => performance.now());
    const list = source.keeping?.store.get(this.#prefix + LIST);
    if (isObject(list)) {
      this.#isComplete = list['complete'] === true;
      this.#isUnknown = list['unknown'] === true;
    }
    // With `start: current`, the rest is found out, and emitted, anew.
    this.#restore(settings.start === 'none');
    source.keeping?.store.onMoved.add(this.#onMoved);
    for (const chipid of settings.chipids ?? []) this.#at(chipid);
    this.#observe();
    if (settings.silence > 0 || this.#hasChannels) this.#look();
  }

  /**
   * Watches other devices from now on. What is known of those that it watches already stays.
   * @throws DeviceCloudError `INVALID_INPUT` if one is no chip number
   */
  follow(devices: Iterable<Chipid>): void {
    if (this.#isClosed) return;
    const { registry, now } = this.#source;
    const chipids = new Set(Array.from(devices, parseChipid));
    this.#settings = { ...this.#settings, chipids };
    for (const chipid of this.#devices.keys())
      if (!chipids.has(chipid)) this.#devices.delete(chipid);
    this.#isFull = false;
    for (const chipid of chipids) {
      if (this.#devices.has(chipid)) continue;
      const device = this.#at(chipid);
      if (!device) break;
      const known = registry.get(chipid);
      if (!known) continue;
      const { listed, since } = known.presence;
      if (this.#isReady && listed && device.shown(since ?? now()))
        this.#presenceChanged(device, null);
      if (known.channelState !== null) this.#channelChanged(known);
    }
    this.#stateChanged();
  }

  /** How many devices it knows, and how many of them are online. */
  counts(): { devices: number; online: number } {
    let online = 0;
    for (const device of this.#devices.values()) if (device.online) online++;
    return { devices: this.#devices.size, online };
  }

  /** Ends it: nothing is called, and nothing that has just changed is kept. May be called again. */
  close(): void {
    this.#source.ended?.(this);
    this.#isClosed = true;
    for (const leave of this.#leave) leave();
    clearTimeout(this.#timer);
    this.#changed.clear();
    this.#source.keeping?.store.onMoved.delete(this.#onMoved);
  }

  get #prefix(): string {
    return `event:${this.#source.keeping?.node}:`;
  }

  /** Devices have come from another process of a cluster, or from none, as at its start. */
  readonly #onMoved = (): void => {
    this.#restore(true);
    const { store } = this.#source.keeping as WatchKeeping;
    // What was seen while they were nobody's has to be known to whoever has them next.
    for (const device of this.#devices.values())
      if (store.get(this.#prefix + device.chipid) === undefined) this.#stateChanged(device);
    if (store.get(this.#prefix + LIST) === undefined) this.#stateChanged();
  };

  /** Goes on with what was emitted before. @param isWhole whether silences and channels are as they were, too */
  #restore(isWhole: boolean): void {
    for (const [, value] of this.#source.keeping?.store.list(this.#prefix) ?? []) {
      const saved = readSaved(value);
      const device = saved && this.#at(saved[0]);
      if (!device) continue;
      const [, online, since, silent, connected, name] = saved;
      device.online = online;
      device.since = since;
      device.name = name;
      if (isWhole && this.#settings.silence > 0) device.isSilent = silent;
      if (isWhole && this.#hasChannels) device.connected = connected;
    }
  }

  /** Keeps what has changed. */
  #save({ store, owns }: WatchKeeping): void {
    const prefix = this.#prefix;
    if (this.#changed.delete(LIST) && owns(undefined)) {
      const complete = this.#isComplete && this.#settings.chipids === undefined;
      store.update(prefix + LIST, { complete, unknown: this.#isUnknown });
      // Others may be watched by now.
      for (const [key] of store.list(prefix)) this.#changed.add(key.slice(prefix.length));
      this.#changed.delete(LIST);
    }
    for (const chipid of this.#changed)
      if (owns(chipid)) store.update(prefix + chipid, this.#savedOf(chipid));
    this.#changed.clear();
  }

  #savedOf(chipid: string): SavedDevice | undefined {
    const device = this.#devices.get(chipid);
    if (!device) return undefined;
    const { online, since, isSilent, connected } = device;
    return [chipid, online, since, isSilent, connected, this.#nameOf(device)];
  }

  #observe(): void {
    const { registry, poller } = this.#source;
    const leave = registry.addWatcher({
      onLive: (device) => this.#uploaded(device),
      onState: (device) => this.#channelChanged(device),
      onRecovering: ({ chipid }) => this.#emit('recovering', this.#at(chipid)),
      onRecovered: ({ chipid }, count) => this.#emit('recovered', this.#at(chipid), { count }),
      onAlarm: ({ chipid }, event, alarm) => {
        if (!this.#isHeld) this.#emit(event, this.#at(chipid), alarm);
      },
    });
    this.#leave.push(leave);
    for (const device of registry.devices())
      if (device.channelState !== null) this.#channelChanged(device);
    const user = {
      onReading: (reading: ListReading) => this.#onReading(reading),
      onReadError: (error: unknown) => this.#onReadError(error),
    };
    this.#leave.push(poller.poll(this.#settings.refresh, user));
  }

  get #hasChannels(): boolean {
    return this.#settings.events.has('channel');
  }

  #uploaded({ chipid, lastUpload }: FleetDevice): void {
    const device = this.#at(chipid);
    if (!device) return;
    const was = device.online;
    device.lastUpload = lastUpload;
    const changed = device.shown(lastUpload ?? this.#source.now());
    const wasSilent = device.heard(this.#clock());
    if (changed) this.#presenceChanged(device, was);
    if (!wasSilent) return;
    this.#emit('heard', device);
    this.#stateChanged(device);
  }

  /** Looks, every second, who is silent by now, and whose channel stays down. */
  #look(): void {
    const { silence, settle } = this.#settings;
    const now = this.#clock();
    for (const device of this.#devices.values()) {
      if (silence > 0 && !device.isSilent && device.quietFor(now) >= silence) {
        device.isSilent = true;
        this.#emit('silent', device);
        this.#stateChanged(device);
      }
      const { downSince } = device;
      if (downSince !== undefined && now - downSince >= settle) this.#settled(device, false);
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#look(), LOOK);
  }

  #settled(device: WatchedDevice, connected: boolean): void {
    device.downSince = undefined;
    const was = device.connected;
    if (was === connected) return;
    device.connected = connected;
    this.#stateChanged(device);
    if (was !== null || this.#settings.start === 'current') this.#emitChannel(device);
  }

  /** @param was null if nothing was known of it */
  #presenceChanged(device: WatchedDevice, was: boolean | null): void {
    this.#stateChanged(device);
    if (was !== null || this.#settings.start === 'current') this.#emitPresence(device);
  }

  #channelChanged({ chipid, channelState, channelReason }: FleetDevice): void {
    const device = this.#at(chipid);
    if (!device) return;
    device.channel(channelState, channelReason, this.#clock());
    if (!this.#hasChannels) device.downSince = undefined;
    else if (channelState === 'connected') this.#settled(device, true);
  }

  /** Applies a reading of the list, by the poller or on demand, and emits its events. */
  #onReading(reading: ListReading): void {
    if (this.#isClosed) return;
    this.#failures = 0;
    if (this.#isUnknown) {
      this.#isUnknown = false;
      this.#emitForAll('known', reading.at);
    }
    this.#compare(reading);
    this.#isFull = false;
    if (!this.#isReady) this.#isFirst();
    this.#notify((listener) => listener.onReading?.(reading.invalid));
  }

  #isFirst(): void {
    this.#isReady = this.#isComplete = true;
    this.#stateChanged();
    const wasHeld = this.#isHeld;
    this.#isHeld = false;
    if (this.#settings.start === 'none') return;
    for (const device of this.#devices.values()) {
      if (!device.isPresenceEmitted) this.#emitPresence(device);
      if (!device.isChannelEmitted) this.#emitChannel(device);
      if (wasHeld) this.#emitAlarms(device);
    }
  }

  #onReadError(error: unknown): void {
    if (this.#isClosed) return;
    if (this.#failures++ === 0) this.#failingSince = this.#source.now();
    if (!this.#isUnknown && this.#failures >= FAILURES) {
      this.#isUnknown = true;
      const reason = isDeviceCloudError(error) ? error.code : 'ERROR';
      this.#emitForAll('unknown', this.#failingSince, reason);
      // Channels show all the same which devices are there.
      const wasHeld = this.#isHeld;
      this.#isHeld = false;
      for (const device of wasHeld ? this.#devices.values() : []) {
        this.#emitChannel(device);
        this.#emitAlarms(device);
      }
    }
    this.#notify((listener) => listener.onReadError?.(error));
  }

  #compare({ at, devices: listed, polled }: ListReading): void {
    const { registry } = this.#source;
    for (const device of this.#devices.values()) {
      const { chipid, online: was } = device;
      let changed = false;
      if (listed.has(chipid)) changed = device.shown(at);
      // Otherwise it has shown itself since the list was asked for.
      else if (registry.isOnline(chipid)) device.misses = 0;
      // Readings on demand may follow each other too soon to say for how long a device is absent.
      else if (polled || was === null) changed = device.absent(at, this.#settings.misses);
      if (changed) this.#presenceChanged(device, was);
    }
    if (this.#settings.chipids === undefined) this.#addListed(listed.keys(), at);
  }

  #addListed(chipids: Iterable<string>, at: number): void {
    for (const chipid of chipids) {
      if (this.#devices.has(chipid)) continue;
      const device = this.#at(chipid);
      // There is no room for the others, either.
      if (!device) return;
      const was = device.online;
      device.shown(at);
      this.#presenceChanged(device, was);
    }
  }

  /** The device, if it is wanted and there is room. */
  #at(chipid: string): WatchedDevice | undefined {
    const known = this.#devices.get(chipid);
    if (known || this.#isClosed) return known;
    if (this.#settings.chipids?.has(chipid) === false || !this.#makeRoom()) return undefined;
    const device = new WatchedDevice(chipid);
    this.#devices.set(chipid, device);
    if (this.#isComplete && this.#settings.chipids === undefined) device.online = false;
    device.lastUpload = this.#source.registry.get(chipid)?.lastUpload ?? null;
    return device;
  }

  /** Only offline devices are forgotten, since they come back as `online`. @returns whether there is room */
  #makeRoom(): boolean {
    if (this.#devices.size < MAX_WATCHED) return true;
    if (this.#isFull) return false;
    const offline = [...this.#devices.values()].filter(({ online }) => online === false);
    offline.sort((a, b) => (a.since ?? 0) - (b.since ?? 0));
    for (const { chipid } of offline.slice(0, BATCH)) this.#devices.delete(chipid);
    this.#isFull = offline.length === 0;
    return !this.#isFull;
  }

  /** As the book or the list shows it, or as it was before the last start. */
  #nameOf({ chipid, name }: WatchedDevice): string | null {
    return this.#source.registry.name(chipid) ?? name;
  }

  #emitPresence(device: WatchedDevice): void {
    const { online } = device;
    if (this.#isHeld || online === null) return;
    device.isPresenceEmitted = true;
    this.#emit(online ? 'online' : 'offline', device);
  }

  #emitChannel(device: WatchedDevice): void {
    const { connected, reason } = device;
    if (this.#isHeld || connected === null) return;
    device.isChannelEmitted = true;
    if (connected) this.#emit('connected', device);
    else this.#emit('disconnected', device, reason === undefined ? {} : { reason });
  }

  #emitAlarms(device: WatchedDevice): void {
    const alarms: readonly Alarm[] = this.#source.registry.get(device.chipid)?.alarms ?? [];
    for (const alarm of alarms) this.#emit('alarm', device, alarm);
  }

  /** @param device undefined if it is not watched */
  #emit(
    event: FleetEventName,
    device: WatchedDevice | undefined,
    more: Partial<FleetEvent> = {},
  ): void {
    if (!device) return;
    const { chipid, online, since, lastUpload } = device;
    this.#pass(event, { chipid, online, name: this.#nameOf(device), since, lastUpload, ...more });
  }

  /** Emits an event that concerns all devices. */
  #emitForAll(event: 'known' | 'unknown', since: number | null, reason?: string): void {
    const none = { chipid: undefined, online: null, name: null, lastUpload: null };
    this.#pass(event, { ...none, since, ...(reason === undefined ? {} : { reason }) });
    this.#stateChanged();
  }

  #pass(event: FleetEventName, of: Omit<FleetEvent, 'event' | 'appid'>): void {
    const isOwn = this.#source.keeping?.owns(of.chipid) ?? true;
    if (isOwn && this.#settings.events.has(EVENTS[event]))
      this.#notify((listener) => listener.onEvent({ event, appid: this.#source.appid, ...of }));
  }

  /** @param device undefined: the list */
  #stateChanged(device?: WatchedDevice): void {
    const { keeping } = this.#source;
    if (keeping && !this.#isClosed) {
      if (this.#changed.size === 0) setImmediate(() => this.#save(keeping));
      this.#changed.add(device?.chipid ?? LIST);
    }
    this.#notify((listener) => listener.onState?.());
  }

  /** Calls the listener, unless the watch has ended. */
  #notify(call: (listener: WatchListener) => unknown): void {
    if (!this.#isClosed) isolated(() => call(this.#listener));
  }
}
