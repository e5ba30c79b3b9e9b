import type { ChannelState } from '../channel/listener';
import type { ErrorCode } from '../errors';
import { Presence } from './presence';
import type { Alarm, AlarmEvent } from './limits';
import {
  isLater,
  KeptUpload,
  MAX_BODY,
  SHOWN_BODY,
  type LatestSource,
  type RecentCommand,
} from './latest';
import type { Upload } from '../types';

/** An error of a call to a device. */
export interface FleetError {
  /** `ERROR` if it is no error of this package. */
  code: ErrorCode | 'ERROR';
  /** What happened, and what to do. */
  message: string;
  /** When it occurred, in ms. */
  at: number;
}

/** An error, with the device that it concerns. */
export interface ReportedError extends FleetError {
  /** Null for an error of reading the list. */
  chipid: string | null;
}

/** What a snapshot has as it is. */
type Shown = 'chipid' | 'lastUpload' | 'reconnects' | 'recovered' | 'waiting' | 'running';

/** What is known of a device at a moment; times in ms by this clock. */
export interface DeviceSnapshot
  extends Pick<FleetDevice, Shown | 'lastError'>, Pick<Presence, 'online' | 'listed' | 'since'> {
  /** That of the book or, without one, of the list; null if neither names it. */
  name: string | null;
  /** Its channel; null if none is open. */
  channel: { state: ChannelState; reason: string | null } | null;
  /** The groups that the book names, if the device has a row there. */
  groups?: string[];
  /** The type that the book names. */
  type?: string;
  /** Limits of its type that are crossed, if any. */
  alarms?: Alarm[];
  /** Only of a device of the book that no list and no upload has shown. */
  missing?: true;
}

/** What has changed since a revision. */
export interface FleetChanges {
  /** To ask with the next time. */
  revision: number;
  /** Devices that have changed, to be read once: they are made one by one, since there may be 50,000. */
  devices: Iterable<DeviceSnapshot>;
  /** Chip numbers of devices that are no longer known. */
  removed: string[];
  /** Whether `devices` are all that are known: forget any others. */
  complete: boolean;
}

/** What is known of one device: see {@link DeviceSnapshot}. Plain fields, since there are up to 10,000; times in ms by this clock. */
export class FleetDevice {
  /** Undefined until a list contains it, and for a device without a name. */
  name: string | undefined = undefined;
  readonly presence = new Presence();
  /** When its last live upload arrived. */
  lastUpload: number | null = null;
  /** Whether a list, an upload or the service has ever shown that it exists. */
  wasSeen = false;
  /** Null if no channel is open. */
  channelState: ChannelState | null = null;
  channelReason: string | undefined = undefined;
  /** How often one of its channels connected, closed ones included. */
  connections = 0;
  /** How often its channel came back after it had been lost. */
  reconnects = 0;
  /** Whether the current channel has been connected before. */
  wasConnected = false;
  /** How many listeners hold back live uploads for older ones. */
  holding = 0;
  /** The number of recoveries under way: each listener has its own. */
  recoveries = 0;
  /** The most uploads that one of these recoveries has emitted, and that were altered. */
  emitted = 0;
  altered = 0;
  /** Uploads that were recovered, each counted once. */
  recovered = 0;
  /** Commands that wait for their turn. */
  queued = 0;
  /** Commands that wait for the device to show itself. */
  held = 0;
  /** Commands that have been sent and not answered. */
  running = 0;
  /** The last error of a call to it. */
  lastError: FleetError | null = null;
  latest: KeptUpload | undefined = undefined;
  /** Its last uploads and commands, the oldest first. */
  readonly uploads: KeptUpload[] = [];
  readonly commands: RecentCommand[] = [];
  alarms: readonly Alarm[] = [];
  /** The revision of all devices at the last change of this one. */
  revision = 0;
  /** A counter, set with each sign of life: the device with the lowest value is forgotten first. */
  seen = 0;

  constructor(readonly chipid: string) {}

  /** Commands that have not been sent. */
  get waiting(): number {
    return this.queued + this.held;
  }

  /** Whether it has a channel or commands, so that it is forgotten after all others. */
  get isInUse(): boolean {
    return this.channelState !== null || this.waiting > 0 || this.running > 0;
  }

  /** Keeps an upload: as the latest if it is, and among the last ones. @param base64 all of it, as it came in its frame */
  keep(upload: Upload, source: LatestSource, at: number, base64?: string): void {
    const { latest, connections } = this;
    const kept = (most: number): KeptUpload =>
      new KeptUpload(upload, source, at, connections, most, base64);
    const short = kept(SHOWN_BODY);
    remember(this.uploads, short);
    if (source === 'live' || isLater(upload, latest, connections, at))
      this.latest = short.isWhole ? short : kept(MAX_BODY);
  }

  snapshot(): DeviceSnapshot {
    const { chipid, presence, lastUpload, channelState, channelReason } = this;
    const { reconnects, recovered, waiting, running, lastError } = this;
    const { online, listed, since } = presence;
    return {
      chipid,
      name: this.name ?? null,
      online,
      listed,
      since,
      lastUpload,
      reconnects,
      recovered,
      waiting,
      running,
      channel: channelState && { state: channelState, reason: channelReason ?? null },
      // Without its chip number, and a copy: the caller may change it.
      lastError: lastError && {
        code: lastError.code,
        message: lastError.message,
        at: lastError.at,
      },
      ...(this.alarms.length > 0 && { alarms: this.alarms.map((alarm) => ({ ...alarm })) }),
    };
  }
}

/**
 * Observes what happens to devices, after the registry has been updated. It is this package's own code: it
 * never throws. It may add and remove watchers.
 */
export interface FleetWatcher {
  /** A live upload, before the listeners of the channel get it. Never a replayed one. */
  onLive?(device: FleetDevice, upload: Upload): void;
  /** Listeners hold back its live uploads for older ones, or one more does, or one less. */
  onHold?(device: FleetDevice): void;
  /** A missed upload, or one that was held back, for each listener that recovers it. */
  onEmitted?(device: FleetDevice, upload: Upload): void;
  /** The state of its channel changed; null: it was closed, since its last listener has left. */
  onState?(device: FleetDevice): void;
  /** The first of its recoveries began. */
  onRecovering?(device: FleetDevice): void;
  /** The last of them ended. @param count the uploads that were recovered, each counted once */
  onRecovered?(device: FleetDevice, count: number): void;
  /** A field has crossed a limit of the device's type, or is back. */
  onAlarm?(device: FleetDevice, event: AlarmEvent, alarm: Alarm): void;
  /** The client ends: nothing is called any more. */
  onEnd?(): void;
}

/** Uploads, and commands, that are kept of a device. */
export const MOST = 20;

/** Adds the newest, and drops the oldest where there are more than {@link MOST}. */
export function remember<T>(entries: T[], entry: T): void {
  entries.push(entry);
  if (entries.length > MOST) entries.shift();
}

/** Devices that are known at most, and how many are forgotten at once to make room. */
export const MAX_DEVICES = 10_000;
const BATCH = 500;

/** The devices that are known, and which of them have changed since when. */
export class Devices {
  /** Grows with each change. */
  revision: number;
  readonly #first: number;
  readonly #devices = new Map<string, FleetDevice>();
  /** Devices that were forgotten, and at which revision: as many as there can be devices. */
  readonly #removed = new Map<string, number>();
  /** Changes up to this revision are no longer known one by one. */
  #unknown = -Infinity;
  #seen = 0;

  /** @param first the revision to begin with: higher than any that the application has had before */
  constructor(first: number) {
    this.#first = this.revision = first;
  }

  get size(): number {
    return this.#devices.size;
  }

  get(chipid: string): FleetDevice | undefined {
    return this.#devices.get(chipid);
  }

  [Symbol.iterator](): Iterator<FleetDevice> {
    return this.#devices.values();
  }

  /** The device, which is known from now on, seen now and changed. */
  touch(chipid: string): FleetDevice {
    let device = this.#devices.get(chipid);
    if (!device) {
      this.#makeRoom(Infinity);
      device = this.#add(chipid);
    }
    device.seen = ++this.#seen;
    this.changed(device);
    return device;
  }

  changed(device: FleetDevice): void {
    device.revision = ++this.revision;
  }

  /** Any device may have changed. */
  allChanged(): void {
    this.#unknown = ++this.revision;
  }

  /** The devices of a list are known from now on, and seen now: of a list that has no room as a whole, the first ones. */
  see(chipids: Iterable<string>): void {
    const seen = ++this.#seen;
    const fresh: string[] = [];
    for (const chipid of chipids) {
      const device = this.#devices.get(chipid);
      if (device) device.seen = seen;
      else fresh.push(chipid);
    }
    for (const chipid of fresh) {
      if (!this.#makeRoom(seen)) return;
      this.#add(chipid).seen = seen;
    }
  }

  /** Whether it is known what has changed since a revision. */
  isKnown(revision: number): boolean {
    return revision >= Math.max(this.#first, this.#unknown) && revision <= this.revision;
  }

  /** The devices that were forgotten since a known revision. */
  removedSince(revision: number): string[] {
    return Array.from(this.#removed).flatMap(([chipid, at]) => (at > revision ? chipid : []));
  }

  #add(chipid: string): FleetDevice {
    const device = new FleetDevice(chipid);
    this.#removed.delete(chipid);
    this.#devices.set(chipid, device);
    return device;
  }

  /**
   * Forgets, if need be, the devices that were seen longest ago; those for which nothing is at work first.
   * @param before only of those seen before
   * @returns whether there is room
   */
  #makeRoom(before: number): boolean {
    if (this.#devices.size < MAX_DEVICES) return true;
    const candidates = [...this.#devices.values()].filter(({ seen }) => seen < before);
    candidates.sort((a, b) => Number(a.isInUse) - Number(b.isInUse) || a.seen - b.seen);
    for (const { chipid } of candidates.slice(0, BATCH)) this.#forget(chipid);
    return candidates.length > 0;
  }

  #forget(chipid: string): void {
    this.#devices.delete(chipid);
    this.#removed.set(chipid, ++this.revision);
    if (this.#removed.size <= MAX_DEVICES) return;
    this.#removed.clear();
    this.#unknown = this.revision;
  }
}
