import { isDeviceCloudError } from '../../errors';
import { parseChipid, isolated } from '../../protocol/values';
import type { Chipid } from '../../types';
import { isObject } from '../../util/json';
import type { FleetDevice } from '../devices';
import type { ListReading } from '../list-poller';
import {
  EVENTS,
  MAX_WATCHED,
  readSaved,
  WatchedDevice,
  type FleetEvent,
  type FleetEventName,
  type WatchKeeping,
  type WatchListener,
  type WatchSettings,
  type WatchSource,
} from './watch-types';

/** Stands for what is kept of the list, beside the chip numbers. */
const LIST = 'list';

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
  /** Readings of the list in a row that failed. */
  #failures = 0;
  /** When the first of them was, in ms. */
  #failingSince: number | null = null;
  /** Whether the list failed too often in a row. */
  #isUnknown = false;
  /** Whether the list was ever read, so that a device that is not known was offline, rather than not looked for. */
  #isComplete = false;
  /** With `current`, before the first reading: states are not emitted yet. */
  #isHeld: boolean;
  #isClosed = false;
  readonly #leave: (() => void)[] = [];
  /** What has changed in this turn, by its chip number; undefined is the list. */
  readonly #changed = new Map<string | undefined, WatchedDevice | undefined>();
  #lookedAt: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: WatchSource, settings: WatchSettings, listener: WatchListener) {
    const { keeping, registry, poller } = source;
    this.#source = source;
    this.#settings = settings;
    this.#listener = listener;
    this.#isHeld = settings.start === 'current';
    this.#clock = source.clock;
    this.#lookedAt = this.#clock();
    const list = keeping?.store.get(this.#prefix + LIST);
    if (isObject(list)) {
      this.#isComplete = list['complete'] === true;
      this.#isUnknown = list['unknown'] === true;
    }
    // With `start: current`, the rest is found out, and emitted, anew.
    this.#restore(settings.start === 'none');
    keeping?.store.onMoved.add(this.#onMoved);
    this.#leave.push(
      () => keeping?.store.onMoved.delete(this.#onMoved),
      registry.addWatcher({
        onLive: (device) => this.#uploaded(device),
        onState: (device) => this.#channelChanged(device),
        onRecovering: ({ chipid }) => this.#emit('recovering', this.#at(chipid)),
        onRecovered: ({ chipid }, count) => this.#emit('recovered', this.#at(chipid), { count }),
        onAlarm: ({ chipid }, event, alarm) => {
          if (!this.#isHeld) this.#emit(event, this.#at(chipid), alarm);
        },
        onEnd: () => this.close(),
      }),
    );
    this.#meet();
    this.#leave.push(
      poller.poll(settings.refresh, {
        onReading: (reading) => this.#onReading(reading),
        onReadError: (error) => this.#onReadError(error),
      }),
    );
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
    for (const chipid of this.#devices.keys()) if (!chipids.has(chipid)) this.#forget(chipid);
    this.#meet();
    for (const device of this.#devices.values()) {
      const { chipid, online } = device;
      if (online === null && registry.isOnline(chipid))
        this.#see(device, true, registry.get(chipid)?.presence.since ?? now());
    }
    this.#stateChanged();
  }

  /** How many devices it knows, and how many of them are online. */
  counts(): { devices: number; online: number } {
    const online = [...this.#devices.values()].filter((device) => device.online).length;
    return { devices: this.#devices.size, online };
  }

  /** Ends it: nothing is called, and nothing that has just changed is kept. May be called again. */
  close(): void {
    this.#isClosed = true;
    for (const leave of this.#leave) leave();
    clearTimeout(this.#timer);
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
    const { keeping } = this.#source;
    for (const [key, value] of keeping?.store.list(this.#prefix) ?? []) {
      const saved = readSaved(value);
      if (!saved) continue;
      const [chipid, online, since, silent, connected, name] = saved;
      const device = this.#at(chipid);
      if (!device) keeping?.store.update(key, undefined);
      else {
        Object.assign(device, { online, since, name });
        if (isWhole && this.#settings.silence > 0) device.isSilent = silent;
        if (isWhole && this.#hasChannels) device.connected = connected;
      }
    }
  }

  /** Keeps what has changed. */
  #save({ store, owns }: WatchKeeping): void {
    const complete = this.#isComplete && this.#settings.chipids === undefined;
    for (const [chipid, device] of this.#isClosed ? [] : this.#changed) {
      if (!owns(chipid)) continue;
      if (!device) store.update(this.#prefix + LIST, { complete, unknown: this.#isUnknown });
      else if (this.#devices.get(device.chipid) === device)
        store.update(this.#prefix + device.chipid, device.saved(this.#nameOf(device)));
    }
    this.#changed.clear();
  }

  /** Begins to watch the devices that are chosen, and channels that are open. */
  #meet(): void {
    for (const chipid of this.#settings.chipids ?? []) this.#at(chipid);
    for (const device of this.#source.registry.devices())
      if (device.channelState !== null) this.#channelChanged(device);
  }

  get #hasChannels(): boolean {
    return this.#settings.events.has('channel');
  }

  #uploaded({ chipid, lastUpload }: FleetDevice): void {
    const device = this.#at(chipid);
    if (!device) return;
    this.#see(device, true, lastUpload ?? this.#source.now());
    // The next look counts all the time since the last one.
    device.quiet = this.#lookedAt - this.#clock();
    if (!device.isSilent) return;
    device.isSilent = false;
    this.#emit('heard', device);
    this.#stateChanged(device);
  }

  /** Looks, every second, who is silent by now, and whose channel stays down. */
  #look(): void {
    const { silence, settle } = this.#settings;
    const now = this.#clock();
    const passed = Math.max(0, now - this.#lookedAt);
    this.#lookedAt = now;
    for (const device of this.#devices.values()) {
      const { chipid, downSince } = device;
      // Time without a channel is no silence.
      if (this.#source.registry.get(chipid)?.channelState === 'connected') device.quiet += passed;
      if (silence > 0 && !device.isSilent && device.quiet >= silence) {
        device.isSilent = true;
        this.#emit('silent', device);
        this.#stateChanged(device);
      }
      if (downSince !== undefined && now - downSince >= settle) this.#settled(device, false);
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#look(), LOOK);
  }

  /** A channel that was not tried yet, because many others are, is not down; one that was closed on purpose stays as it was. */
  #channelChanged({ chipid, channelState }: FleetDevice): void {
    const device = this.#at(chipid);
    if (!device || !this.#hasChannels || channelState === 'connecting') return;
    if (channelState === 'connected') this.#settled(device, true);
    else if (channelState === null) device.downSince = undefined;
    else if (device.connected !== false) device.downSince ??= this.#clock();
  }

  #settled(device: WatchedDevice, connected: boolean): void {
    device.downSince = undefined;
    const was = device.connected;
    if (was === connected) return;
    device.connected = connected;
    this.#stateChanged(device);
    if (was !== null || this.#settings.start === 'current') this.#emitChannel(device);
  }

  /** A device is online, or is not. @param at since when */
  #see(device: WatchedDevice, online: boolean, at: number): void {
    device.misses = 0;
    const was = device.online;
    if (was === online) return;
    device.online = online;
    device.since = at;
    this.#stateChanged(device);
    if (was !== null || this.#settings.start === 'current') this.#emitPresence(device);
  }

  /** A reading that began at a time lacks a device. */
  #miss(device: WatchedDevice, at: number): void {
    if (device.online === false) return;
    if (device.misses++ === 0) device.absentSince = at;
    // Otherwise nothing says that it has been online.
    const isKnown = device.online !== null;
    if (!isKnown || device.misses >= this.#settings.misses)
      this.#see(device, false, device.absentSince);
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
    if (!this.#isComplete) {
      this.#isComplete = true;
      this.#stateChanged();
    }
    if (this.#isHeld) {
      this.#isHeld = false;
      for (const device of this.#devices.values()) {
        this.#emitPresence(device);
        this.#emitChannel(device);
        this.#emitAlarms(device);
      }
    }
    this.#notify((listener) => listener.onReading?.(reading.invalid));
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
        // Its state is emitted once something shows it.
        device.online = null;
        this.#emitChannel(device);
        this.#emitAlarms(device);
      }
    }
    this.#notify((listener) => listener.onReadError?.(error));
  }

  #compare({ at, devices: listed, polled }: ListReading): void {
    const { registry } = this.#source;
    for (const device of this.#devices.values()) {
      if (listed.has(device.chipid)) this.#see(device, true, at);
      // Otherwise it has shown itself since the list was asked for.
      else if (registry.isOnline(device.chipid)) device.misses = 0;
      // Readings on demand may follow each other too soon to say for how long a device is absent.
      else if (polled || device.online === null) this.#miss(device, at);
    }
    if (this.#settings.chipids) return;
    for (const chipid of listed.keys()) {
      if (this.#devices.has(chipid)) continue;
      const device = this.#at(chipid);
      // There is no room for the others, either.
      if (!device) return;
      this.#see(device, true, at);
    }
  }

  /** The device, if it is wanted and there is room. */
  #at(chipid: string): WatchedDevice | undefined {
    const known = this.#devices.get(chipid);
    if (known || this.#isClosed) return known;
    const { chipids } = this.#settings;
    if (chipids?.has(chipid) === false || !this.#makeRoom()) return undefined;
    const device = new WatchedDevice(chipid);
    if (this.#isComplete && !chipids) device.online = false;
    this.#devices.set(chipid, device);
    return device;
  }

  /** Only offline devices are forgotten, since they come back as `online`. @returns whether there is room */
  #makeRoom(): boolean {
    if (this.#devices.size < MAX_WATCHED) return true;
    for (const [chipid, { online }] of this.#devices) if (online === false) this.#forget(chipid);
    return this.#devices.size < MAX_WATCHED;
  }

  #forget(chipid: string): void {
    this.#devices.delete(chipid);
    this.#source.keeping?.store.update(this.#prefix + chipid, undefined);
  }

  /** As the book or the list shows it, or as it was before the last start. */
  #nameOf({ chipid, name }: WatchedDevice): string | null {
    return this.#source.registry.name(chipid) ?? name;
  }

  #emitPresence(device: WatchedDevice): void {
    if (!this.#isHeld && device.online !== null)
      this.#emit(device.online ? 'online' : 'offline', device);
  }

  #emitChannel(device: WatchedDevice): void {
    const { connected, chipid } = device;
    if (this.#isHeld || connected === null) return;
    const reason = this.#source.registry.get(chipid)?.channelReason;
    if (connected) this.#emit('connected', device);
    else this.#emit('disconnected', device, reason === undefined ? {} : { reason });
  }

  #emitAlarms(device: WatchedDevice): void {
    const { alarms = [] } = this.#source.registry.get(device.chipid) ?? {};
    for (const alarm of alarms) this.#emit('alarm', device, alarm);
  }

  /** @param device undefined if it is not watched */
  #emit(
    event: FleetEventName,
    device: WatchedDevice | undefined,
    more: Partial<FleetEvent> = {},
  ): void {
    if (!device) return;
    const { chipid, online, since } = device;
    const { lastUpload = null } = this.#source.registry.get(chipid) ?? {};
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
    // Once the flow has passed on the events of this turn.
    if (keeping && this.#changed.size === 0) setImmediate(() => this.#save(keeping));
    if (keeping) this.#changed.set(device?.chipid, device);
    this.#notify((listener) => listener.onState?.());
  }

  /** Calls the listener, unless the watch has ended. */
  #notify(call: (listener: WatchListener) => unknown): void {
    if (!this.#isClosed) isolated(() => call(this.#listener));
  }
}
