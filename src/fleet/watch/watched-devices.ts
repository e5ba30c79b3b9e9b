import type { ChannelState } from '../../channel/listener';
import type { Timed, TimerQueue } from '../../channel/timer-queue';

/** What all devices of a watch share. */
export interface WatchedShared {
  /** Devices that are watched, for now; undefined: all. */
  readonly chipids: ReadonlySet<string> | undefined;
  /** The clock of silences and channels is the queue's: a change of this machine's time is no silence. */
  readonly timers: TimerQueue;
  /** Milliseconds without a live upload until a device is silent; 0: never. */
  readonly silence: number;
  /** Milliseconds that a channel must be down before it counts as disconnected; undefined: channels do not count. */
  readonly settle: number | undefined;
  onSilent(chipid: string): void;
  /** The state of a channel has changed. @param was null if this is the first one */
  onSettled(chipid: string, was: boolean | null): void;
}

/**
 * Whether one device is online as the events of a watch have it: once it is listed or uploads, until it is absent from enough
 * readings of the list in a row. Times are ms by this machine's clock. Methods return whether `online` has changed.
 */
export class WatchedPresence {
  /** Null until a reading or an upload has shown it. */
  online: boolean | null = null;
  /** Since when that is so, as far as is known. */
  since: number | null = null;
  /** Readings in a row that lack the device. */
  misses = 0;
  /** When the first of them began. */
  #absentSince = 0;

  /** It was in a reading that began at `at`, or has uploaded then. */
  shown(at: number): boolean {
    this.misses = 0;
    return this.#setState(true, at);
  }

  /**
   * A reading lacks the device.
   * @param began when the reading began
   * @param most how many such readings in a row make it offline
   */
  absent(began: number, most: number): boolean {
    const { online } = this;
    if (online === false) return false;
    if (this.misses++ === 0) this.#absentSince = began;
    // Nothing says that it has been online.
    if (online === null) return this.#setState(false, began);
    return this.misses >= most && this.#setState(false, this.#absentSince);
  }

  #setState(online: boolean, since: number): boolean {
    if (this.online === online) return false;
    this.since = since;
    this.online = online;
    return true;
  }
}

/**
 * Whether one device is silent: its channel was connected for long enough, all in all, since its last live
 * upload. An upload only notes its time. When the timer fires, it computes the remaining time.
 */
export class Silence implements Timed {
  due = 0;
  isSilent = false;
  /** Milliseconds without an upload on earlier connections. */
  #earlier = 0;
  /** Since when there has been no upload on this connection; undefined while the channel is down. */
  #since: number | undefined;

  readonly #chipid: string;
  readonly #shared: WatchedShared;

  constructor(chipid: string, shared: WatchedShared) {
    this.#chipid = chipid;
    this.#shared = shared;
  }

  connected(): void {
    if (this.#since !== undefined) return;
    this.#since = this.#shared.timers.now();
    this.#arm();
  }

  /** The channel is down, or closed. */
  down(): void {
    if (this.#since === undefined) return;
    this.#earlier = this.#silence();
    this.#since = undefined;
    this.#shared.timers.remove(this);
  }

  /** A live upload arrived. @returns whether the device was silent until then */
  heard(): boolean {
    this.#earlier = 0;
    this.#since = this.#shared.timers.now();
    const wasSilent = this.isSilent;
    this.isSilent = false;
    if (!this.#shared.timers.has(this)) this.#arm();
    return wasSilent;
  }

  close(): void {
    this.#shared.timers.remove(this);
  }

  onDue(): void {
    if (this.#silence() < this.#shared.silence) {
      this.#arm();
      return;
    }
    this.isSilent = true;
    this.#shared.onSilent(this.#chipid);
  }

  #silence(): number {
    if (this.#since === undefined) return this.#earlier;
    return this.#earlier + Math.max(0, this.#shared.timers.now() - this.#since);
  }

  #arm(): void {
    const { timers, silence: limit } = this.#shared;
    if (!this.isSilent) timers.set(this, timers.now() + limit - this.#silence());
  }
}

/**
 * Whether the channel of one device is connected, without the short breaks. A channel that has not been
 * tried, because many others are, is not down; a channel that was closed on purpose stays as it was.
 */
export class SettledChannel implements Timed {
  due = 0;
  /** Null until the first attempt has succeeded, or has failed for long enough. */
  connected: boolean | null = null;
  /** Why it is down, if known. */
  reason: string | undefined = undefined;

  readonly #chipid: string;
  readonly #shared: WatchedShared;

  constructor(chipid: string, shared: WatchedShared) {
    this.#chipid = chipid;
    this.#shared = shared;
  }

  /** @param state null if the channel was closed */
  change(state: ChannelState | null, reason: string | undefined): void {
    const { timers, settle = 0 } = this.#shared;
    if (state === null) {
      timers.remove(this);
    } else if (state === 'connected') {
      timers.remove(this);
      this.reason = undefined;
      this.#setState(true);
    } else if (state === 'disconnected') {
      this.reason = reason;
      if (this.connected !== false && !timers.has(this)) timers.set(this, timers.now() + settle);
    }
  }

  close(): void {
    this.#shared.timers.remove(this);
  }

  onDue(): void {
    this.#setState(false);
  }

  #setState(connected: boolean): void {
    const was = this.connected;
    if (was === connected) return;
    this.connected = connected;
    this.#shared.onSettled(this.#chipid, was);
  }
}

/** Devices that a watch knows at most, and how many it forgets at once to make room. */
export const MAX_WATCHED = 10_000;
const BATCH = 500;

/** One device of a watch. There are up to 10,000. */
export class WatchedDevice {
  readonly presence = new WatchedPresence();
  /** When its last live upload arrived. */
  lastUpload: number | null = null;
  /** Its name before the last start, until a list shows it again. */
  name: string | null = null;
  /** Whether this watch has emitted its state since the start. */
  isPresenceEmitted = false;
  isChannelEmitted = false;

  constructor(
    readonly chipid: string,
    /** Undefined if devices are never silent. */
    readonly silence: Silence | undefined,
    /** Undefined if events of channels are not requested. */
    readonly channel: SettledChannel | undefined,
  ) {}

  stop(): void {
    this.silence?.close();
    this.channel?.close();
  }
}

/** The devices of a watch, up to a limit: only offline ones are forgotten, since they come back as `online`. */
export class WatchedDevices {
  readonly #devices = new Map<string, WatchedDevice>();
  /** There is no room until a device may have gone offline. */
  #isFull = false;

  #chipids: ReadonlySet<string> | undefined;
  readonly #shared: WatchedShared;

  constructor(shared: WatchedShared) {
    this.#shared = shared;
    this.#chipids = shared.chipids;
  }

  get size(): number {
    return this.#devices.size;
  }

  /** Other devices are watched from now on: the rest is forgotten. */
  limit(chipids: ReadonlySet<string>): void {
    this.#chipids = chipids;
    this.#isFull = false;
    for (const device of this.#devices.values())
      if (!chipids.has(device.chipid)) this.#forget(device);
  }

  get(chipid: string): WatchedDevice | undefined {
    return this.#devices.get(chipid);
  }

  [Symbol.iterator](): Iterator<WatchedDevice> {
    return this.#devices.values();
  }

  /** Adds a device. @returns undefined if it is not requested, or there is no room */
  add(chipid: string): WatchedDevice | undefined {
    const { silence: limit, settle } = this.#shared;
    if (this.#chipids?.has(chipid) === false || !this.#makeRoom()) return undefined;
    const silence = limit > 0 ? new Silence(chipid, this.#shared) : undefined;
    const channel = settle === undefined ? undefined : new SettledChannel(chipid, this.#shared);
    const device = new WatchedDevice(chipid, silence, channel);
    this.#devices.set(chipid, device);
    return device;
  }

  /** Devices may have gone offline, which can be forgotten. */
  mayHaveRoom(): void {
    this.#isFull = false;
  }

  /** Ends their timers. What is known of them stays, to be kept until the next start. */
  stop(): void {
    for (const device of this.#devices.values()) device.stop();
  }

  #makeRoom(): boolean {
    if (this.#devices.size < MAX_WATCHED) return true;
    if (this.#isFull) return false;
    const offline = [...this.#devices.values()].filter(({ presence }) => presence.online === false);
    offline.sort((a, b) => (a.presence.since ?? 0) - (b.presence.since ?? 0));
    for (const device of offline.slice(0, BATCH)) this.#forget(device);
    this.#isFull = offline.length === 0;
    return !this.#isFull;
  }

  #forget(device: WatchedDevice): void {
    device.stop();
    this.#devices.delete(device.chipid);
  }
}
