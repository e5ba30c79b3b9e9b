import { Presence } from './watch-presence';
import { Silence, type SilenceShared } from './watch-silence';
import { SettledChannel, type SettledShared } from './watch-channel';

/** Devices that a watch knows at most, and how many it forgets at once to make room. */
export const MAX_WATCHED = 10_000;
const BATCH = 500;

/** One device of a watch. There are up to 10,000. */
export class WatchedDevice {
  readonly presence = new Presence();
  /** Its name before the last start, until a list shows it again. */
  name: string | null = null;
  /** Whether this watch has emitted its state since the start. */
  presenceEmitted = false;
  channelEmitted = false;

  constructor(
    readonly chipid: string,
    /** Undefined if devices are never silent. */
    readonly silence: Silence | undefined,
    /** Undefined if events of channels are not requested. */
    readonly channel: SettledChannel | undefined,
  ) {}
}

function stop({ silence, channel }: WatchedDevice): void {
  silence?.close();
  channel?.close();
}

/** The devices of a watch, up to a limit: only offline ones are forgotten, since they come back as `online`. */
export class WatchedDevices {
  readonly #devices = new Map<string, WatchedDevice>();
  /** There is no room until a device may have gone offline. */
  #full = false;

  /** @param wanted undefined: all devices */
  constructor(
    private readonly wanted: ReadonlySet<string> | undefined,
    private readonly silence: SilenceShared | undefined,
    private readonly channel: SettledShared | undefined,
  ) {}

  get size(): number {
    return this.#devices.size;
  }

  get(chipid: string): WatchedDevice | undefined {
    return this.#devices.get(chipid);
  }

  [Symbol.iterator](): Iterator<WatchedDevice> {
    return this.#devices.values();
  }

  /** Adds a device. @returns undefined if it is not requested, or there is no room */
  add(chipid: string): WatchedDevice | undefined {
    if (this.wanted?.has(chipid) === false || !this.#makeRoom()) return undefined;
    const silence = this.silence && new Silence(chipid, this.silence);
    const channel = this.channel && new SettledChannel(chipid, this.channel);
    const device = new WatchedDevice(chipid, silence, channel);
    this.#devices.set(chipid, device);
    return device;
  }

  /** Devices may have gone offline, which can be forgotten. */
  mayHaveRoom(): void {
    this.#full = false;
  }

  /** Ends their timers. What is known of them stays, to be kept until the next start. */
  stop(): void {
    for (const device of this.#devices.values()) stop(device);
  }

  #makeRoom(): boolean {
    if (this.#devices.size < MAX_WATCHED) return true;
    if (this.#full) return false;
    const offline = [...this.#devices.values()].filter(({ presence }) => presence.online === false);
    offline.sort((a, b) => (a.presence.since ?? 0) - (b.presence.since ?? 0));
    for (const device of offline.slice(0, BATCH)) this.#forget(device);
    this.#full = offline.length === 0;
    return !this.#full;
  }

  #forget(device: WatchedDevice): void {
    stop(device);
    this.#devices.delete(device.chipid);
  }
}
