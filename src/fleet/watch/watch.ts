import type { Alarm } from '../limits';
import type { FleetDevice } from '../device';
import type { ListPoller, ListReading } from '../list-poller';
import type { FleetRegistry } from '../registry';
import { TimerQueue } from '../../channel/timer-queue';
import { isDeviceCloudError } from '../../errors';
import { parseChipid } from '../../input/chipid';
import type { Chipid } from '../../types';
import { WatchEmitter } from './watch-emitter';
import {
  readState,
  type SavedDevice,
  type SavedState,
  type WatchListener,
  type WatchSettings,
} from './watch-types';
import { WatchedDevices, type WatchedDevice } from './watched-devices';

/** What a watch observes. */
export interface WatchSource {
  readonly appid: string;
  readonly registry: Pick<FleetRegistry, 'get' | 'devices' | 'addWatcher' | 'nameOf'>;
  readonly poller: Pick<ListPoller, 'poll'>;
  /** This machine's clock, in ms. */
  readonly now: () => number;
  /** For silences and lost channels; default: a separate queue. */
  readonly timers?: TimerQueue;
  /** Is called when the watch has ended. */
  readonly ended?: (watch: Watch) => void;
}

/** Readings in a row that fail before nothing is known of the devices any more. */
const FAILURES = 3;

/** Whether the list of online devices can be read. Each method returns whether that has changed. */
class ListHealth {
  /** Whether the list failed too often in a row. */
  isUnknown = false;
  /** When the first failure in a row was, or the reading that ended them, in ms. */
  since: number | null = null;
  #failures = 0;

  read(at: number): boolean {
    this.#failures = 0;
    if (!this.isUnknown) return false;
    this.isUnknown = false;
    this.since = at;
    return true;
  }

  failed(at: number): boolean {
    if (this.isUnknown) return false;
    if (this.#failures === 0) this.since = at;
    this.isUnknown = ++this.#failures >= FAILURES;
    return this.isUnknown;
  }
}

/** A watch that runs: makes events of what the registry and the poller show. */
export class Watch {
  readonly #source: WatchSource;
  #settings: WatchSettings;
  readonly #emitter: WatchEmitter;
  readonly #devices: WatchedDevices;
  readonly #list = new ListHealth();
  /** Whether a device that is not known was offline, rather than not looked for. */
  #isComplete: boolean;
  /** Whether the list has been read since the start. */
  #isReady = false;
  readonly #leave: (() => void)[] = [];

  constructor(source: WatchSource, settings: WatchSettings, listener: WatchListener) {
    this.#source = source;
    this.#settings = settings;
    const { appid, timers = new TimerQueue() } = source;
    const nameOf = (device: WatchedDevice): string | null => this.#nameOf(device);
    const alarmsOf = ({ chipid }: WatchedDevice): readonly Alarm[] =>
      source.registry.get(chipid)?.alarms ?? [];
    this.#emitter = new WatchEmitter(appid, settings, listener, nameOf, alarmsOf);
    this.#devices = new WatchedDevices({
      timers,
      chipids: settings.chipids,
      silence: settings.silence,
      settle: settings.events.has('channel') ? settings.settle : undefined,
      onSilent: (chipid) => this.#silent(chipid),
      onSettled: (chipid, was) => {
        const device = this.#devices.get(chipid);
        if (device) this.#emitter.channelChanged(device, was);
      },
    });
    const saved = readState(settings.state, appid);
    this.#isComplete = saved.complete;
    this.#restore(saved);
    for (const chipid of settings.chipids ?? []) this.#at(chipid);
    this.#observe();
  }

  /**
   * Watches other devices from now on. What is known of those that it watches already stays.
   * @throws DeviceCloudError `INVALID_INPUT` if one is no chip number
   */
  follow(devices: Iterable<Chipid>): void {
    if (this.#emitter.isClosed) return;
    const { registry, now } = this.#source;
    const chipids = new Set(Array.from(devices, parseChipid));
    this.#settings = { ...this.#settings, chipids };
    this.#devices.limit(chipids);
    for (const chipid of chipids) {
      if (this.#devices.get(chipid)) continue;
      const device = this.#devices.add(chipid);
      if (!device) break;
      const known = registry.get(chipid);
      if (!known) continue;
      device.presence.lastUpload = known.lastUpload;
      if (this.#isReady && known.listed && device.presence.listed(known.since ?? now()))
        this.#emitter.presenceChanged(device, null);
      if (known.channelState !== null) this.#channelChanged(known);
    }
    this.#emitter.stateChanged();
  }

  /** The devices that it knows. */
  chipids(): string[] {
    return Array.from(this.#devices, ({ chipid }) => chipid);
  }

  /** How many devices it knows, and how many of them are online. */
  counts(): { devices: number; online: number } {
    let online = 0;
    for (const { presence } of this.#devices) if (presence.online) online++;
    return { devices: this.#devices.size, online };
  }

  /** What to keep for the watch after the next start: JSON, without secrets. Also once it has ended. */
  state(): SavedState {
    const { appid } = this.#source;
    const devices = Array.from(this.#devices, (device) => this.#stateOf(device));
    return { appid, ...this.listState(), devices };
  }

  /** The part of {@link state} that is about the list. */
  listState(): Pick<SavedState, 'complete' | 'unknown'> {
    const complete = this.#isComplete && this.#settings.chipids === undefined;
    return { complete, unknown: this.#list.isUnknown };
  }

  /** The part of {@link state} that is about a device; undefined if it is not known. */
  stateOf(chipid: string): SavedDevice | undefined {
    const device = this.#devices.get(chipid);
    return device && this.#stateOf(device);
  }

  /** Ends it: nothing is called any more. May be called again. */
  close(): void {
    this.#source.ended?.(this);
    this.#emitter.close();
    for (const leave of this.#leave) leave();
    this.#devices.stop();
  }

  #stateOf(device: WatchedDevice): SavedDevice {
    const { chipid, presence, silence, channel } = device;
    const { online, since } = presence;
    const [silent, connected] = [silence?.isSilent ?? false, channel?.connected ?? null];
    return [chipid, online, since, silent, connected, this.#nameOf(device)];
  }

  /** Goes on with what another process of a cluster has emitted. @param state of its devices, as of {@link state} */
  restore(state: unknown): void {
    if (this.#emitter.isClosed) return;
    const saved = readState(state, this.#source.appid);
    for (const each of saved.devices) {
      const device = this.#at(each[0]);
      if (device) this.#set(device, each, true);
    }
  }

  #restore(saved: SavedState): void {
    this.#list.isUnknown = saved.unknown;
    for (const each of saved.devices) {
      const device = this.#at(each[0]);
      // With `start: current`, the rest is found out, and emitted, anew.
      if (device) this.#set(device, each, this.#settings.start === 'none');
    }
  }

  #set(device: WatchedDevice, saved: SavedDevice, isWhole: boolean): void {
    const [, online, since, silent, connected, name] = saved;
    device.presence.online = online;
    device.presence.since = since;
    device.name = name;
    if (!isWhole) return;
    if (device.silence) device.silence.isSilent = silent;
    if (device.channel) device.channel.connected = connected;
  }

  #observe(): void {
    const { registry, poller } = this.#source;
    const leave = registry.addWatcher({
      onLive: (device) => this.#uploaded(device),
      onState: (device) => this.#channelChanged(device),
      onRecovering: ({ chipid }) => {
        const device = this.#at(chipid);
        if (device) this.#emitter.emit('recovering', device);
      },
      onRecovered: ({ chipid }, count) => {
        const device = this.#at(chipid);
        if (device) this.#emitter.emit('recovered', device, { count });
      },
      onAlarm: ({ chipid }, event, alarm) => {
        const device = this.#at(chipid);
        if (device) this.#emitter.alarmChanged(device, event, alarm);
      },
    });
    this.#leave.push(leave);
    for (const device of registry.devices()) {
      if (device.channelState !== null) this.#channelChanged(device);
    }
    const user = {
      onReading: (reading: ListReading) => this.#onReading(reading),
      onReadError: (error: unknown) => this.#onReadError(error),
    };
    this.#leave.push(poller.poll(this.#settings.refresh, user));
  }

  #uploaded({ chipid, lastUpload }: FleetDevice): void {
    const device = this.#at(chipid);
    if (!device) return;
    const was = device.presence.online;
    const changed = device.presence.uploaded(lastUpload ?? this.#source.now());
    const wasSilent = device.silence?.heard() ?? false;
    if (changed) this.#emitter.presenceChanged(device, was);
    if (!wasSilent) return;
    this.#emitter.emit('heard', device);
    this.#emitter.stateChanged(device);
  }

  #silent(chipid: string): void {
    const device = this.#devices.get(chipid);
    if (!device) return;
    this.#emitter.emit('silent', device);
    this.#emitter.stateChanged(device);
  }

  #channelChanged({ chipid, channelState, channelReason }: FleetDevice): void {
    const device = this.#at(chipid);
    if (!device) return;
    if (channelState === 'connected') device.silence?.connected();
    else device.silence?.down();
    device.channel?.change(channelState, channelReason);
  }

  /** Applies a reading of the list, by the poller or on demand, and emits its events. */
  #onReading(reading: ListReading): void {
    if (this.#emitter.isClosed) return;
    if (this.#list.read(reading.at)) {
      this.#emitter.emitForAll('known', this.#list.since);
      this.#emitter.stateChanged();
    }
    this.#compare(reading);
    this.#devices.mayHaveRoom();
    if (!this.#isReady) {
      this.#isReady = this.#isComplete = true;
      this.#emitter.firstReading(this.#devices);
    }
    this.#emitter.notify((listener) => listener.onReading?.(reading.invalid));
  }

  #onReadError(error: unknown): void {
    if (this.#emitter.isClosed) return;
    if (this.#list.failed(this.#source.now())) {
      const reason = isDeviceCloudError(error) ? error.code : 'ERROR';
      this.#emitter.emitForAll('unknown', this.#list.since, reason);
      this.#emitter.stateChanged();
      this.#emitter.listFailed(this.#devices);
    }
    this.#emitter.notify((listener) => listener.onReadError?.(error));
  }

  #compare({ at, devices: listed, polled }: ListReading): void {
    const ended = this.#source.now();
    for (const device of this.#devices) {
      const { chipid, presence } = device;
      const was = presence.online;
      if (listed.has(chipid)) {
        if (presence.listed(at)) this.#emitter.presenceChanged(device, was);
        // Readings on demand may follow each other too soon to say for how long a device is absent.
      } else if (polled || was === null) {
        const changed = presence.absent(at, ended, this.#settings.misses);
        if (changed) this.#emitter.presenceChanged(device, was);
      }
    }
    if (this.#settings.chipids === undefined) this.#addListed(listed.keys(), at);
  }

  #addListed(chipids: Iterable<string>, at: number): void {
    for (const chipid of chipids) {
      if (this.#devices.get(chipid)) continue;
      const device = this.#at(chipid);
      // There is no room for the others, either.
      if (!device) return;
      const was = device.presence.online;
      device.presence.listed(at);
      this.#emitter.presenceChanged(device, was);
    }
  }

  /** The device, if it is wanted and there is room. */
  #at(chipid: string): WatchedDevice | undefined {
    const known = this.#devices.get(chipid);
    if (known || this.#emitter.isClosed) return known;
    const device = this.#devices.add(chipid);
    if (!device) return undefined;
    if (this.#isComplete) device.presence.online = false;
    device.presence.lastUpload = this.#source.registry.get(chipid)?.lastUpload ?? null;
    return device;
  }

  /** As the book or the list shows it, or as it was before the last start. */
  #nameOf({ chipid, name }: WatchedDevice): string | null {
    return this.#source.registry.nameOf(chipid) ?? name;
  }
}
