import type { ListDevices } from '../http/two-requests';
import { requireOpenApi } from '../protocol/open-api';
import type { ChannelState } from '../channel/listener';
import { invalidInput } from '../errors';
import type { ServiceClock } from '../http/answer';
import { MAX_TIMEOUT, parseChipid } from '../protocol/values';
import type { AckCounts } from '../recovery/acknowledged';
import type { RecoveryShared } from '../recovery/options';
import type { Chipid } from '../types';
import { show } from '../util/show';
import type { Keeping } from '../store/store';
import { Alarms, type DeviceLimits } from './alarms';
import type { LatestUpload } from './latest';
import { ListPoller, type ListUser, type ListReading } from './list-poller';
import { FleetRegistry } from './registry';
import { Watch } from './watch/watch';
import {
  readWatchOptions,
  type WatchKeeping,
  type WatchListener,
  type WatchOptions,
} from './watch/watch-types';

/** What reads the list and the histories. */
interface FleetSources {
  listDevices: ListDevices;
  /** Milliseconds that a reading of the list may take. */
  timeout: number;
  clock: ServiceClock;
  listening: { readonly shared: RecoveryShared };
  acknowledged: { readonly counts: AckCounts };
}

export type FleetMetrics = ReturnType<Fleet['metrics']>;

/**
 * What is known of the devices of an application, from listeners, lists and calls. Only {@link readList},
 * {@link pollList} and {@link watch} call the service. At most 10,000 devices are known; the
 * one seen longest ago is forgotten first.
 */
export class Fleet extends FleetRegistry {
  /** @internal The poller of the list, also for commands. */
  readonly poller: ListPoller;
  /** @internal Undefined without the appid and the app key. */
  sources: FleetSources | undefined = undefined;
  readonly #now: () => number;
  #alarms: Alarms | undefined;

  /**
   * @param now this machine's clock, in ms
   * @param first the revision to begin with
   */
  constructor(now: () => number, first: number) {
    super(now, first);
    this.#now = now;
    this.poller = new ListPoller({
      list: async (signal) => {
        const { listDevices, timeout } = this.#sources;
        return (await listDevices(timeout, signal)).body;
      },
      onReading: (reading) => this.applyList(reading),
      onReadError: (error) => this.onReadError(error),
      now,
    });
  }

  /**
   * The latest upload of a device that a listener has received, live or recovered; undefined if there is none.
   * A recovered upload never replaces a newer one. At most 16 KiB of a body are kept.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  latest(chipid: Chipid): LatestUpload | undefined {
    const device = this.get(parseChipid(chipid));
    return device?.latest?.toLatest(device.chipid, this.#serviceNow);
  }

  /** The latest uploads of all devices that have one. */
  *latestAll(): Generator<LatestUpload> {
    const now = this.#serviceNow;
    for (const { chipid, latest } of [...this.devices()])
      if (latest) yield latest.toLatest(chipid, now);
  }

  /** What the application has done since the client was made, and how it is now, for monitoring. */
  metrics() {
    const channels: Record<ChannelState, number> = { connecting: 0, connected: 0, disconnected: 0 };
    let waiting = 0;
    for (const { channelState, held } of this.devices()) {
      if (channelState !== null) channels[channelState]++;
      waiting += held;
    }
    const { live, replayed, altered } = this.uploads;
    return {
      /** Devices that are known, and how many of them are online. */
      ...this.count(),
      /** Channels by their state. */
      channels,
      /** Uploads that came live; that were missed and recovered; and how many of these the history may have altered. */
      uploads: live,
      replayed,
      altered,
      /** Commands to devices that have ended. */
      commands: Array.from(this.ended.values(), (each) => ({ ...each })),
      /** Commands that wait for their devices. */
      waiting,
      /** Milliseconds since the last good reading of the list began; null before the first. */
      listAge: this.readAt === null ? null : Math.max(0, this.#now() - this.readAt),
      /** Bytes of live uploads that are held back until a history is read, or an upload is acknowledged. */
      heldBytes: this.sources?.listening.shared.budgets.held.used ?? 0,
      /** Uploads that wait for an acknowledgement. */
      unacknowledged: this.unacknowledged,
    };
  }

  /** Uploads that a flow has been given and has not acknowledged, one of each device for each listener that waits for that. */
  get unacknowledged(): AckCounts {
    return this.sources?.acknowledged.counts ?? { count: 0, age: 0 };
  }

  /**
   * Reads the list of online devices (section 4.2, endpoint 2), together with others who ask at the same
   * time.
   * @throws DeviceCloudError as for `devices` of the client
   */
  readList(): Promise<ListReading> {
    return this.poller.read();
  }

  /**
   * Polls the list of online devices. There is one poller for all users: the shortest interval counts, and it
   * stops with the last.
   * @param interval milliseconds between two readings, from 1000
   * @param user is called with each reading, also those that others ask for, and with errors of the poller
   * @returns a function that stops it
   * @throws DeviceCloudError `INVALID_INPUT` if the interval or the user is invalid
   */
  pollList(interval: number, user: ListUser): () => void {
    const isTime = typeof interval === 'number' && interval >= 1000;
    if (!isTime || interval > MAX_TIMEOUT) {
      throw invalidInput(
        `The interval of the list must be from 1000 ms to ${MAX_TIMEOUT / 1000} s, but is ${show(interval)}.`,
      );
    }
    if (typeof user !== 'object' || (user as unknown) === null) {
      throw invalidInput(`A user of the list must be an object, but is ${show(user)}.`);
    }
    return this.poller.poll(interval, user);
  }

  /**
   * Watches who is online: by the list, which it polls, and by the uploads on channels that are open. It opens
   * no channel and calls no device. A read that fails makes no device offline.
   * @param keeping own code: where what was emitted is kept over restarts
   * @returns the watch, to be closed when it is no longer needed; it ends with the client, too
   * @throws DeviceCloudError `INVALID_INPUT`, or `NOT_CONFIGURED` without the keys of the open API
   */
  watch(options: WatchOptions, listener: WatchListener, keeping?: WatchKeeping): Watch {
    const settings = readWatchOptions(options);
    if (typeof listener !== 'object' || (listener as unknown) === null)
      throw invalidInput(`A listener must be an object with onEvent, but is ${show(listener)}.`);
    const { appid } = this.#sources.listening.shared;
    const clock = (): number => performance.now();
    const source = { appid, registry: this, poller: this.poller, now: this.#now, clock, keeping };
    return new Watch(source, settings, listener);
  }

  /**
   * @internal Judges the uploads of devices by the limits of their types, for `alarm` and `cleared` of {@link watch} and for the
   * alarms of a device, until the client ends.
   * @param store is loaded; it keeps what was judged
   * @param node whose state it is there
   * @param limitsOf a device; undefined if it has none
   */
  judge(
    store: Keeping,
    node: string,
    limitsOf: (chipid: string) => DeviceLimits | undefined,
  ): void {
    this.#alarms?.onEnd();
    const guard = this.sources?.listening.shared.guard;
    this.#alarms = new Alarms({ registry: this, store, node, limitsOf, guard });
  }

  /** @internal Ends what it reads, watches and judges. */
  override close(): void {
    super.close();
    this.poller.close();
  }

  get #sources(): FleetSources {
    return requireOpenApi(this.sources);
  }

  /** The service's clock, in ms. */
  get #serviceNow(): number {
    return this.#now() + (this.sources?.clock.skew() ?? 0);
  }
}
