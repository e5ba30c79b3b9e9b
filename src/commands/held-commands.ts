import { DeviceCloudError } from '../errors';
import { notSent } from './device-queues';
import { HeldCommand, type HeldOptions } from './held-command';
import { HeldDevice, type HeldDeviceShared } from './held-device';

/** The most commands that may wait for one device to show itself. */
export const MAX_HELD = 100;

/**
 * The most that may wait for all devices of an application together: two for each of the 10,000 devices
 * that the fleet remembers. They and the messages behind them then take some 50 MB.
 */
export const MAX_HELD_IN_ALL = 20_000;

/** Seconds between two readings of the list while a command waits for a device to be in it. */
const REFRESH = 60;

/** Milliseconds since a reading of the list began, up to which it says who is online now. */
const FRESH = 2000;

/** The longest that a reading is assumed to take, in ms: beyond it, the clock was set. */
const LONGEST_READING = 60_000;

/** A reading of the list of online devices. */
export interface Listing {
  /** When its request began, in ms. */
  at: number;
  devices: { has(chipid: string): boolean };
}

/** The reading of the list that an application shares. */
export interface ListSource {
  poll(seconds: number, user: { onReading(reading: Listing): void }): () => void;
  read(maxAge?: number): Promise<Listing>;
}

/** What held commands need of their application. */
export interface HeldCommandsDeps extends Omit<
  HeldDeviceShared,
  'added' | 'removed' | 'watchList'
> {
  list: ListSource;
  /** This machine's clock, in ms. */
  now: () => number;
  /** Own code, which never throws: is called when the number of commands that wait for a device changes. */
  onChange?: (chipid: string) => void;
}

const CLOSED = 'the client was closed';

const full = (chipid: string, count: number, whom: string): DeviceCloudError =>
  new DeviceCloudError(
    'QUEUE_FULL',
    `The command to device ${chipid} was not sent: ${count} commands wait for ${whom} already. ` +
      'Send fewer, or let them expire sooner.',
  );

/**
 * Commands that wait until their device shows itself: `online` by the list of online devices or by a live
 * upload, `upload` by its next live upload. Then they go through the device's queue, in the order of
 * arrival. After a call without an answer, what is left waits for the next sign of life.
 */
export class HeldCommands {
  readonly #deps: HeldCommandsDeps;
  readonly #shared: HeldDeviceShared;
  /** Those for which a command waits. */
  readonly #devices = new Map<string, HeldDevice>();
  #size = 0;
  #listWatchers = 0;
  #leaveList: (() => void) | undefined;
  #closed = false;

  constructor(deps: HeldCommandsDeps) {
    const { channels, queues, timers, explain } = deps;
    this.#deps = deps;
    this.#shared = {
      ...{ channels, queues, timers, explain },
      added: (device) => this.#added(device),
      removed: (device) => this.#removed(device),
      watchList: (change) => this.#watchList(change),
    };
  }

  /** How many commands wait for a device and are not in its queue. */
  waiting(chipid: string): number {
    return this.#devices.get(chipid)?.waiting ?? 0;
  }

  /**
   * Runs a command once its device has shown itself.
   * @param command starts the call; it is called at most once, and never after its command was refused
   * @throws DeviceCloudError `EXPIRED`, `QUEUE_FULL`, or `UNREACHABLE` if it was aborted before its call began
   */
  async run<T>(chipid: string, command: () => Promise<T>, options: HeldOptions): Promise<T> {
    const { signal, when } = options;
    if (this.#closed) throw notSent(chipid, CLOSED);
    if (signal?.aborted) throw notSent(chipid, this.#deps.explain(signal));
    const device = this.#devices.get(chipid) ?? new HeldDevice(chipid, this.#shared);
    if (device.size >= MAX_HELD) throw full(chipid, MAX_HELD, 'this device');
    if (this.#size >= MAX_HELD_IN_ALL)
      throw full(chipid, MAX_HELD_IN_ALL, 'devices of this application');
    return new Promise<T>((resolve, reject) => {
      const outcome = { resolve: resolve as (value: unknown) => void, reject };
      const held = new HeldCommand(device, this.#shared, command, options, outcome);
      device.add(held);
      if (when === 'online') void this.#check(device, held);
      else if (held.isWaiting) device.watchFor(held);
    });
  }

  /** A call to a device got no answer: it counts as gone until it shows itself. */
  lost(chipid: string): void {
    this.#devices.get(chipid)?.lost();
  }

  /** Ends every command whose call has not begun, and each later one. */
  close(): void {
    this.#closed = true;
    for (const device of [...this.#devices.values()]) device.close(CLOSED);
  }

  #added(device: HeldDevice): void {
    this.#devices.set(device.chipid, device);
    this.#size++;
    this.#deps.onChange?.(device.chipid);
  }

  #removed(device: HeldDevice): void {
    this.#size--;
    if (device.size === 0) this.#devices.delete(device.chipid);
    this.#deps.onChange?.(device.chipid);
  }

  /** Reads the list once. The channel is opened for the command only after that, or if it takes long. */
  async #check(device: HeldDevice, command: HeldCommand): Promise<void> {
    const { list } = this.#deps;
    try {
      let reading = await list.read(Math.floor(Math.min(FRESH, device.sinceLost)));
      // That reading began before the device was lost. The next one does not.
      if (this.#isOutdated(reading, device)) reading = await list.read();
      this.#show(reading, device);
    } catch {
      // Without a list the command waits.
    }
    if (command.isWaiting) device.watchFor(command);
  }

  #show(reading: Listing, device: HeldDevice): void {
    if (reading.devices.has(device.chipid) && !this.#isOutdated(reading, device)) device.listed();
  }

  /** Whether a reading began before a call to the device got no answer. */
  #isOutdated({ at }: Listing, device: HeldDevice): boolean {
    const age = Math.min(Math.max(0, this.#deps.now() - at), LONGEST_READING);
    return age >= device.sinceLost;
  }

  #onReading(reading: Listing): void {
    for (const device of this.#devices.values()) this.#show(reading, device);
  }

  #watchList(change: 1 | -1): void {
    this.#listWatchers += change;
    if (this.#listWatchers === 0) {
      this.#leaveList?.();
      this.#leaveList = undefined;
    } else {
      this.#leaveList ??= this.#deps.list.poll(REFRESH, {
        onReading: (reading) => this.#onReading(reading),
      });
    }
  }
}
