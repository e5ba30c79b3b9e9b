import type { ListDevices } from '../api/two-requests';
import { openApiMissing } from '../api/open-api';
import { invalidInput } from '../errors';
import type { ServiceClock } from '../http/headers';
import { MAX_TIMEOUT } from '../http/deadline';
import { parseChipid } from '../input/chipid';
import type { AckCounts } from '../recovery/acknowledged';
import type { RecoveryShared } from '../recovery/options';
import type { Charset, Chipid } from '../types';
import { show } from '../util/show';
import type { Keeping } from '../store/store';
import { Alarms, type DeviceLimits } from './alarms';
import type { Book } from './book';
import { FleetDevice, type DeviceSnapshot, type FleetChanges, type ReportedError } from './device';
import type { LatestUpload } from './latest';
import type { FleetMetrics } from './metrics';
import { ListPoller, type ListUser, type ListReading } from './list-poller';
import { shortText, type Recent } from './recent';
import type { FleetRegistry } from './registry';
import { Watch } from './watch/watch';
import { readWatchOptions, type WatchListener, type WatchOptions } from './watch/watch-types';

interface FleetDeps {
  registry: FleetRegistry;
  clock: ServiceClock;
  /** Milliseconds that a reading of the list may take. */
  timeout: number;
  /** This machine's clock, in ms. */
  now: () => number;
  /** What reads the list and the histories; undefined without the appid and the app key. */
  sources:
    | {
        listDevices: ListDevices;
        listening: { readonly shared: RecoveryShared };
        acknowledged: { readonly counts: AckCounts };
      }
    | undefined;
}

/** Not for users of the fleet: the client ends it. */
const END = Symbol('end');
/** Nor is this: limits belong to the types of nodes. */
export const JUDGE = Symbol('judge');

/**
 * What is known of the devices of an application, from listeners, lists and calls. Only {@link readList},
 * {@link pollList} and {@link watch} call the service. At most 10,000 devices are known; the
 * one seen longest ago is forgotten first.
 */
export class Fleet {
  readonly #deps: FleetDeps;
  readonly #poller: ListPoller;
  readonly #watches = new Set<Watch>();
  #alarms: Alarms | undefined;

  /** @param poller of the list, which it shares with the commands */
  constructor(deps: FleetDeps, poller: ListPoller) {
    this.#deps = deps;
    this.#poller = poller;
  }

  /** All devices that are known, and devices of the book that were never seen. */
  snapshot(): DeviceSnapshot[] {
    return [...this.#deps.registry.all()];
  }

  /**
   * What is known of a device; undefined if nothing is.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  device(chipid: Chipid): DeviceSnapshot | undefined {
    const { registry } = this.#deps;
    const digits = parseChipid(chipid);
    const device = registry.get(digits);
    if (device) return registry.snapshotOf(device);
    return this.book?.has(digits) ? registry.snapshotOf(new FleetDevice(digits)) : undefined;
  }

  /**
   * The name of a device in the book or, without one, in the list once it has shown it.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  name(chipid: Chipid): string | undefined {
    return this.#deps.registry.nameOf(parseChipid(chipid));
  }

  /** Names, groups and types of devices, if the client has a book. */
  get book(): Book | undefined {
    return this.#deps.registry.book;
  }

  /**
   * The latest upload of a device that a listener has received, live or recovered; undefined if there is none.
   * A recovered upload never replaces a newer one. At most 16 KiB of a body are kept.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  latest(chipid: Chipid): LatestUpload | undefined {
    const device = this.#deps.registry.get(parseChipid(chipid));
    return device?.latest?.toLatest(device.chipid, this.#serviceNow);
  }

  /**
   * The latest upload of a device as text on one line; undefined if nothing has arrived.
   * @param longest characters
   * @param charset of text that is not valid UTF-8
   */
  latestText(chipid: string, longest: number, charset: Charset): string | undefined {
    const latest = this.#deps.registry.get(chipid)?.latest;
    return latest && shortText(latest.base64, !latest.truncated, longest, charset);
  }

  /**
   * The last 20 uploads and commands of a device, the newest first. They are kept in memory, for at most 10,000 devices.
   * @param charset of text that is not valid UTF-8
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  recent(chipid: Chipid, charset: Charset = 'utf-8'): Recent {
    return this.#deps.registry.recent.of(parseChipid(chipid), charset);
  }

  /** The latest uploads of all devices that have one. */
  *latestAll(): Generator<LatestUpload> {
    const now = this.#serviceNow;
    for (const { chipid, latest } of [...this.#deps.registry.devices()])
      if (latest) yield latest.toLatest(chipid, now);
  }

  /** Grows with each change: what {@link changesSince} would answer. */
  get revision(): number {
    return this.#deps.registry.revision;
  }

  /** The latest 20 errors of calls to devices and of polling the list, the newest first. */
  errors(): ReportedError[] {
    return this.#deps.registry.errors.map((error) => ({ ...error }));
  }

  /**
   * The devices that have changed since an earlier answer, for a display that is kept up to date. They may be read in several
   * turns of the event loop.
   * @param revision of that answer; 0: all devices
   */
  changesSince(revision: number): FleetChanges {
    return this.#deps.registry.changesSince(revision);
  }

  /** How many devices {@link snapshot} has, and how many of them are online. */
  count(): { devices: number; online: number } {
    return this.#deps.registry.count();
  }

  /** What the application has done since the client was made, and how it is now, for monitoring. */
  metrics(): FleetMetrics {
    const { registry, now, sources } = this.#deps;
    const { counters } = registry;
    const channels = { connecting: 0, connected: 0, disconnected: 0 };
    let waiting = 0;
    for (const { channelState, held } of registry.devices()) {
      if (channelState !== null) channels[channelState]++;
      waiting += held;
    }
    const { uploads, replayed, altered } = counters;
    return {
      ...registry.count(),
      ...{ channels, uploads, replayed, altered, commands: counters.commands(), waiting },
      listAge: registry.readAt === null ? null : Math.max(0, now() - registry.readAt),
      heldBytes: sources?.listening.shared.budgets.held.used ?? 0,
      unacknowledged: this.unacknowledged,
    };
  }

  /** Uploads that a flow has been given and has not acknowledged, one of each device for each listener that waits for that. */
  get unacknowledged(): AckCounts {
    return this.#deps.sources?.acknowledged.counts ?? { count: 0, age: 0 };
  }

  /**
   * Reads the list of online devices (section 4.2, endpoint 2), together with others who ask at the same
   * time.
   * @param maxAge milliseconds; a list that is no older is good enough, default 0
   * @throws DeviceCloudError as for `devices` of the client
   */
  async readList(maxAge = 0): Promise<ListReading> {
    return this.#poller.read(maxAge);
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
    return this.#poller.poll(interval, user);
  }

  /**
   * Watches who is online: by the list, which it polls, and by the uploads on channels that are open. It opens
   * no channel and calls no device. A read that fails makes no device offline.
   * @returns the watch, to be closed when it is no longer needed; it ends with the client, too
   * @throws DeviceCloudError `INVALID_INPUT`, or `NOT_CONFIGURED` without the keys of the open API
   */
  watch(options: WatchOptions, listener: WatchListener): Watch {
    const { registry, now, sources } = this.#deps;
    const settings = readWatchOptions(options);
    if (typeof listener !== 'object' || (listener as unknown) === null)
      throw invalidInput(`A listener must be an object with onEvent, but is ${show(listener)}.`);
    if (!sources) throw openApiMissing();
    const { appid } = sources.listening.shared;
    const ended = (watch: Watch): void => void this.#watches.delete(watch);
    const source = { appid, registry, poller: this.#poller, now, ended };
    const started = new Watch(source, settings, listener);
    this.#watches.add(started);
    return started;
  }

  /**
   * Judges the uploads of devices by the limits of their types, for `alarm` and `cleared` of {@link watch} and for the alarms of
   * a device, until the client ends.
   * @param store is loaded; it keeps what was judged
   * @param node whose state it is there
   * @param limitsOf a device; undefined if it has none
   */
  [JUDGE](
    store: Keeping,
    node: string,
    limitsOf: (chipid: string) => DeviceLimits | undefined,
  ): void {
    const { registry, sources } = this.#deps;
    this.#alarms?.close();
    const guard = sources?.listening.shared.guard;
    this.#alarms = new Alarms({ registry, store, node, limitsOf, guard });
  }

  /** Ends what it reads and watches, with the client. */
  [END](): void {
    for (const watch of this.#watches) watch.close();
    this.#alarms?.close();
  }

  /** The service's clock, in ms. */
  get #serviceNow(): number {
    return this.#deps.now() + (this.#deps.clock.skew() ?? 0);
  }
}

/** What is known of the devices of an application, and the poller of their list. */
export function createFleet(deps: FleetDeps) {
  const { registry, timeout, now, sources } = deps;
  const poller = new ListPoller({
    async list(signal) {
      if (!sources) throw openApiMissing();
      return (await sources.listDevices(timeout, signal)).body;
    },
    onReading: (reading) => registry.applyList(reading),
    onReadError: (error) => registry.onReadError(error),
    now,
  });
  const fleet = new Fleet(deps, poller);
  return {
    fleet,
    poller,
    close() {
      fleet[END]();
      registry.close();
      poller.close();
    },
  };
}
