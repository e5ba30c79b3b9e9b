import type { ChannelState } from '../channel/types';
import { openApiMissing } from '../api/open-api';
import { invalidInput } from '../errors';
import { MAX_SECONDS } from '../http/deadline';
import { parseChipid } from '../input/chipid';
import type { Chipid } from '../types';
import { show } from '../util/show';
import type { FleetDevice, FleetError, ReportedError } from './device';
import type { LatestUpload } from './latest';
import { readHistoryOptions, type HistoryOptions } from './latest-history';
import type { LatestReader } from './latest-reader';
import type { ListPoller, ListUser } from './list-poller';
import type { ListReading } from './list-reading';
import type { FleetRegistry } from './registry';
import type { KnownUpload, OtherLatest } from './known-upload';
import type { FleetWatch, WatchListener, WatchOptions } from './watch/watch-types';
import type { Watches } from './watch/watches';

/** What the fleet is made of. */
export interface FleetParts {
  registry: FleetRegistry;
  poller: ListPoller;
  /** Undefined without the keys of the open API. */
  histories: LatestReader | undefined;
  watches: Watches;
  /** The service's clock, in ms. */
  serviceNow: () => number;
  /** How histories are written, unless a caller says otherwise. */
  historyOptions: HistoryOptions;
  /** What the other processes of a cluster know. */
  remote?: OtherLatest | undefined;
}

/** What is known of a device at a moment; times in ms by this clock. */
export interface DeviceSnapshot {
  /** Its chip number, as digits. */
  chipid: string;
  /** Null until a list has shown it, and for a device without a name. */
  name: string | null;
  /** Whether it is listed, or has uploaded since the list was read; null if nothing says so. */
  online: boolean | null;
  /** Whether the latest list of online devices has it; null before the first. */
  listed: boolean | null;
  /** Since when `listed` is so. */
  since: number | null;
  /** When its last live upload arrived. */
  lastUpload: number | null;
  /** Its channel; null if none is open. */
  channel: { state: ChannelState; reason: string | null } | null;
  /** How often its channel came back after it had been lost. */
  reconnects: number;
  /** Uploads that were recovered, each counted once. */
  recovered: number;
  /** Commands that wait for their turn. */
  waiting: number;
  /** Commands that have been sent and not answered. */
  running: number;
  /** The last error of a call to it. */
  lastError: FleetError | null;
}

/** What has changed since a revision. */
export interface FleetChanges {
  /** To ask with the next time. */
  revision: number;
  /** Devices of which anything has changed. */
  devices: DeviceSnapshot[];
  /** Chip numbers of devices that are no longer known. */
  removed: string[];
  /** Whether `devices` are all that are known: forget any others. */
  complete: boolean;
}

/**
 * What is known of the devices of an application, from listeners, lists and calls. Only {@link readLatest},
 * {@link readList}, {@link pollList} and {@link watch} call the service. At most 10,000 devices are known; the
 * one seen longest ago is forgotten first.
 */
export class Fleet {
  readonly #registry: FleetRegistry;
  readonly #poller: ListPoller;
  readonly #histories: LatestReader | undefined;
  readonly #watches: Watches;
  readonly #serviceNow: () => number;
  readonly #historyOptions: HistoryOptions;
  readonly #remote: FleetParts['remote'];

  constructor({
    registry,
    poller,
    histories,
    watches,
    serviceNow,
    historyOptions,
    remote,
  }: FleetParts) {
    this.#historyOptions = historyOptions;
    this.#remote = remote;
    this.#registry = registry;
    this.#poller = poller;
    this.#histories = histories;
    this.#watches = watches;
    this.#serviceNow = serviceNow;
  }

  /** All devices that are known. */
  snapshot(): DeviceSnapshot[] {
    return Array.from(this.#registry.devices(), (device) => this.#show(device));
  }

  /**
   * What is known of a device; undefined if nothing is.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  device(chipid: Chipid): DeviceSnapshot | undefined {
    const device = this.#registry.get(parseChipid(chipid));
    return device && this.#show(device);
  }

  /**
   * The name of a device, once a list has shown it.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  name(chipid: Chipid): string | undefined {
    return this.#registry.get(parseChipid(chipid))?.name;
  }

  /**
   * The latest upload of a device that a listener has received, live or recovered; undefined if there is none.
   * An older one that is recovered never replaces a newer one. At most 16 KiB of a body are kept.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  latest(chipid: Chipid): LatestUpload | undefined {
    const device = this.#registry.get(parseChipid(chipid));
    return device?.latest?.toLatest(device.chipid, this.#serviceNow());
  }

  /**
   * The latest upload of a device; if none is known, the newest of its history, which is read once (section
   * 4.2, endpoint 5). Those who ask at the same time share a reading, and few histories are read at once. One
   * that was empty is not read again for a minute.
   * @param options how the history is written, default: as it is set for the application
   * @returns undefined if the history is empty
   * @throws DeviceCloudError `INVALID_INPUT`, and as for `uploads` of the client
   */
  async readLatest(chipid: Chipid, options?: HistoryOptions): Promise<LatestUpload | undefined> {
    const device = parseChipid(chipid);
    const settings = readHistoryOptions(options, this.#historyOptions);
    if (!this.#histories) throw openApiMissing();
    const latest = await this.#histories.read(device, settings);
    return latest?.toLatest(device, this.#serviceNow());
  }

  /** The latest uploads of all devices that have one. */
  *latestAll(): Generator<LatestUpload> {
    const now = this.#serviceNow();
    for (const { chipid, latest } of [...this.#registry.devices()])
      if (latest) yield latest.toLatest(chipid, now);
  }

  /**
   * As {@link latest}, with what the other processes of a cluster have received; those that do not answer within
   * 1.5 s are left out. Without a cluster it is the same.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  async findLatest(chipid: Chipid): Promise<LatestUpload | undefined> {
    const device = parseChipid(chipid);
    const known = this.latest(device);
    if (!this.#remote) return known;
    return this.#newest([...(known ? [known] : []), ...(await this.#remote.ask(device))]).get(
      device,
    );
  }

  /** As {@link latestAll}, with what the other processes of a cluster have received: see {@link findLatest}. */
  async findLatestAll(): Promise<Iterable<LatestUpload>> {
    if (!this.#remote) return this.latestAll();
    const remote = await this.#remote.ask();
    return this.#newest([...this.latestAll(), ...remote]).values();
  }

  /** Grows with each change: what {@link changesSince} would answer. */
  get revision(): number {
    return this.#registry.revision;
  }

  /** The latest 20 errors of calls to devices and of polling the list, the newest first. */
  errors(): ReportedError[] {
    return this.#registry.errors.map((error) => ({ ...error }));
  }

  /**
   * The devices of which anything has changed since an earlier answer, for a display that is kept up to date.
   * @param revision of that answer; 0: all devices
   */
  changesSince(revision: number): FleetChanges {
    const changes = this.#registry.changesSince(revision);
    return { ...changes, devices: changes.devices.map((device) => this.#show(device)) };
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
   * @param seconds between two readings, from 1
   * @param user is called with each reading, also those that others ask for, and with errors of the poller
   * @returns a function that stops it
   * @throws DeviceCloudError `INVALID_INPUT` if the interval or the user is invalid
   */
  pollList(seconds: number, user: ListUser): () => void {
    if (!(typeof seconds === 'number' && seconds >= 1 && seconds <= MAX_SECONDS)) {
      throw invalidInput(
        `The interval of the list must be a number of seconds from 1 to ${MAX_SECONDS}, but is ${show(seconds)}.`,
      );
    }
    if (typeof user !== 'object' || (user as unknown) === null) {
      throw invalidInput(`A user of the list must be an object, but is ${show(user)}.`);
    }
    return this.#poller.poll(seconds, user);
  }

  /**
   * Watches who is online: by the list, which it polls, and by the uploads on channels that are open. It opens
   * no channel and calls no device. A read that fails makes no device offline.
   * @returns the watch, to be closed when it is no longer needed; it ends with the client, too
   * @throws DeviceCloudError `INVALID_INPUT`, or `NOT_CONFIGURED` without the keys of the open API
   */
  watch(options: WatchOptions, listener: WatchListener): FleetWatch {
    return this.#watches.start(options, listener);
  }

  /** Of each device the newest, by the service's time; of two that are equal the first. */
  #newest(uploads: readonly KnownUpload[]): Map<string, LatestUpload> {
    const now = this.#serviceNow();
    const newest = new Map<string, LatestUpload>();
    for (const upload of uploads) {
      const before = newest.get(upload.chipid);
      if (before && before.timestamp >= upload.timestamp) continue;
      newest.set(upload.chipid, { ...upload, age: Math.max(0, now - upload.timestamp) });
    }
    return newest;
  }

  #show(device: FleetDevice): DeviceSnapshot {
    const { chipid, listed, lastUpload, channelState, channelReason } = device;
    const { reconnects, recovered, waiting, running, lastError } = device;
    return {
      chipid,
      name: device.name ?? null,
      online: this.#registry.isOnline(device),
      listed,
      since: this.#registry.since(device),
      lastUpload,
      channel: channelState && { state: channelState, reason: channelReason ?? null },
      reconnects,
      recovered,
      waiting,
      running,
      lastError: lastError && {
        code: lastError.code,
        message: lastError.message,
        at: lastError.at,
      },
    };
  }
}
