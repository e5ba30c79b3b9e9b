import type { ChannelObserver, ChannelState } from '../channel/types';
import { isDeviceCloudError } from '../errors';
import type { RecoveryObserver } from '../recovery/deps';
import type { DeviceRecord, Upload } from '../types';
import { thrownText } from '../util/thrown';
import { FleetDevice, type FleetError, type ReportedError } from './device';
import type { FleetWatcher } from './watch/fleet-watcher';
import { isLater, KeptUpload, type LatestSource } from './latest';
import type { ListReading } from './list-reading';
import { Removals } from './removals';

/** What has changed since a revision. */
export interface DeviceChanges {
  revision: number;
  devices: FleetDevice[];
  /** Chip numbers of devices that were forgotten meanwhile. */
  removed: string[];
  /** Whether `devices` are all that there are, since nothing is known of that revision. */
  complete: boolean;
}

/** Devices that are known at most, and how many are forgotten at once to make room. */
export const MAX_DEVICES = 10_000;
const BATCH = 500;

const MAX_NAME = 200;

/** Errors of calls that are remembered. */
const ERRORS = 20;

/** The name of a device (section 2.1); undefined if there is none. */
function nameOf({ name }: DeviceRecord): string | undefined {
  const text: unknown = typeof name === 'number' ? String(name) : name;
  return typeof text === 'string' && text !== '' ? text.slice(0, MAX_NAME) : undefined;
}

/**
 * What is known of each device of an application. It opens nothing and calls nothing: it observes uploads,
 * channels, recoveries, commands and readings of the list.
 */
export class FleetRegistry implements ChannelObserver, RecoveryObserver {
  /** Grows with each change. It starts at the time, so that it goes on where an earlier registry ended. */
  revision: number;
  /** When the request of the latest list began, in ms; null before the first. */
  readAt: number | null = null;
  readonly #now: () => number;
  readonly #first: number;
  readonly #devices = new Map<string, FleetDevice>();
  readonly #removals = new Removals();
  #errors: ReportedError[] = [];
  /** Replaced, never changed. */
  #watchers: readonly FleetWatcher[] = [];
  #seen = 0;
  #closed = false;

  /** @param first the revision to begin with: higher than any of an earlier registry of the application */
  constructor(now: () => number, first = 0) {
    this.#now = now;
    this.#first = this.revision = first;
  }

  get size(): number {
    return this.#devices.size;
  }

  get(chipid: string): FleetDevice | undefined {
    return this.#devices.get(chipid);
  }

  devices(): Iterable<FleetDevice> {
    return this.#devices.values();
  }

  /** @returns a function that removes it */
  addWatcher(watcher: FleetWatcher): () => void {
    this.#watchers = [...this.#watchers, watcher];
    return () => {
      this.#watchers = this.#watchers.filter((each) => each !== watcher);
    };
  }

  /** Whether a device is listed, or has uploaded since the list was read; null if nothing says so. */
  isOnline({ listed, refreshed, refreshedAt, lastUpload }: FleetDevice): boolean | null {
    const known = refreshed ?? listed;
    const at = refreshed === null ? this.readAt : refreshedAt;
    if (at === null || known === true) return known;
    return lastUpload !== null && lastUpload >= at ? true : known;
  }

  /** Since when a device is listed or not, or the service has said otherwise. */
  since({ listed, listedSince, refreshed, refreshedAt }: FleetDevice): number | null {
    return refreshed === null || refreshed === listed ? listedSince : refreshedAt;
  }

  /** Devices that changed after a revision. For one of another registry, or 0, all devices. */
  changesSince(revision: number): DeviceChanges {
    const removed = this.#removals.since(revision);
    const complete = !(revision >= this.#first && revision <= this.revision) || !removed;
    const devices: FleetDevice[] = [];
    for (const device of this.#devices.values())
      if (complete || device.revision > revision) devices.push(device);
    const gone = complete ? [] : removed.filter((chipid) => !this.#devices.has(chipid));
    return { revision: this.revision, devices, removed: gone, complete };
  }

  onState(chipid: string, state: ChannelState, reason: string | undefined): void {
    if (this.#closed) return;
    const device = this.#touch(chipid);
    device.channelState = state;
    device.channelReason = reason;
    if (state === 'connected') {
      device.connections++;
      if (device.wasConnected) device.reconnects++;
      device.wasConnected = true;
    }
    for (const watcher of this.#watchers) watcher.onState?.(device);
  }

  onClosed(chipid: string): void {
    const device = this.#devices.get(chipid);
    if (this.#closed || !device) return;
    device.channelState = null;
    device.channelReason = undefined;
    device.wasConnected = false;
    this.#changed(device);
    for (const watcher of this.#watchers) watcher.onState?.(device);
  }

  onLive(upload: Upload, base64?: string): void {
    if (this.#closed) return;
    const at = this.#now();
    const device = this.#touch(upload.chipid);
    device.lastUpload = at;
    device.latest = new KeptUpload(upload, 'live', at, device.connections, base64);
    for (const watcher of this.#watchers) watcher.onLive?.(device, upload);
  }

  onReplayed(upload: Upload): void {
    this.recordUpload(upload, 'replayed');
  }

  /** Records an upload of the history, which is no sign of life. */
  recordUpload(upload: Upload, source: LatestSource): void {
    if (this.#closed) return;
    const at = this.#now();
    const device = this.#touch(upload.chipid);
    if (isLater(upload, device.latest, device.connections, at))
      device.latest = new KeptUpload(upload, source, at, device.connections);
  }

  onRecovering(chipid: string): void {
    if (this.#closed) return;
    const device = this.#touch(chipid);
    if (device.recoveries++ > 0) return;
    device.emitted = 0;
    for (const watcher of this.#watchers) watcher.onRecovering?.(device);
  }

  onRecovered(chipid: string, count: number): void {
    if (this.#closed) return;
    const device = this.#touch(chipid);
    device.emitted = Math.max(device.emitted, count);
    device.recoveries = Math.max(0, device.recoveries - 1);
    if (device.recoveries > 0) return;
    device.recovered += device.emitted;
    for (const watcher of this.#watchers) watcher.onRecovered?.(device, device.emitted);
  }

  /** The commands to a device have changed. */
  onQueue(chipid: string, waiting: number, running: number): void {
    if (this.#closed) return;
    const device = this.#touch(chipid);
    device.waiting = waiting;
    device.running = running;
  }

  /** A call to a device has failed. */
  onError(chipid: string, error: unknown): void {
    if (this.#closed) return;
    this.#touch(chipid).lastError = this.#report(chipid, error);
  }

  /** The service has answered whether a device is online. It is newer than a list that was asked for before. */
  onRefreshed(chipid: string, online: boolean): void {
    if (this.#closed) return;
    const device = this.#touch(chipid);
    device.refreshed = online;
    device.refreshedAt = this.#now();
  }

  /** A turn of the poller, or a reading on demand. */
  onReading(reading: ListReading): void {
    if (this.#closed) return;
    this.applyList(reading);
    for (const watcher of this.#watchers) watcher.onReading?.(reading);
  }

  onReadError(error: unknown): void {
    if (this.#closed) return;
    this.#report(null, error);
    for (const watcher of this.#watchers) watcher.onReadError?.(error);
  }

  /** Applies a list: its names, and which devices are listed. */
  applyList({ at, devices }: Pick<ListReading, 'at' | 'devices'>): void {
    if (this.#closed) return;
    // The answer to an earlier request may come later. A clock that was set back must not stop all readings.
    const isLatest = this.readAt === null || at >= this.readAt || this.readAt > this.#now();
    const seen = ++this.#seen;
    for (const device of this.#devices.values()) {
      const record = devices.get(device.chipid);
      if (record) device.seen = seen;
      if (isLatest) this.#list(device, record, at);
    }
    if (isLatest) this.readAt = at;
    for (const [chipid, record] of devices) {
      if (this.#devices.has(chipid)) continue;
      // Of a list that has no room as a whole, the first devices are known.
      if (!this.#makeRoom(seen)) break;
      const device = this.#add(chipid);
      device.seen = seen;
      this.#list(device, record, at);
    }
  }

  /** The latest errors of calls to devices and of readings of the list, the newest first. */
  get errors(): readonly ReportedError[] {
    return this.#errors;
  }

  /** Takes in nothing more, and calls no watcher. */
  close(): void {
    this.#closed = true;
    this.#watchers = [];
  }

  #report(chipid: string | null, error: unknown): FleetError {
    const known = isDeviceCloudError(error);
    const reported: FleetError = {
      code: known ? error.code : 'ERROR',
      message: known ? error.message : thrownText(error),
      at: this.#now(),
    };
    this.#errors = [{ ...reported, chipid }, ...this.#errors.slice(0, ERRORS - 1)];
    return reported;
  }

  #list(device: FleetDevice, record: DeviceRecord | undefined, at: number): void {
    const listed = record !== undefined;
    const name = record ? nameOf(record) : device.name;
    // A list that was asked for before says less. A clock that was set back must not keep the answer.
    const { refreshed, refreshedAt } = device;
    const isKept = refreshed === null || (at < refreshedAt && refreshedAt <= this.#now());
    if (device.listed === listed && device.name === name && isKept) return;
    if (!isKept) device.refreshed = null;
    if (device.listed !== listed) device.listedSince = at;
    device.listed = listed;
    device.name = name;
    this.#changed(device);
  }

  /** The device, which is known from now on, seen now and changed. */
  #touch(chipid: string): FleetDevice {
    let device = this.#devices.get(chipid);
    if (!device) {
      this.#makeRoom(Infinity);
      device = this.#add(chipid);
    }
    device.seen = ++this.#seen;
    this.#changed(device);
    return device;
  }

  #changed(device: FleetDevice): void {
    device.revision = ++this.revision;
  }

  #add(chipid: string): FleetDevice {
    const device = new FleetDevice(chipid);
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
    candidates.sort((a, b) => Number(a.inUse) - Number(b.inUse) || a.seen - b.seen);
    for (const { chipid } of candidates.slice(0, BATCH)) {
      this.#devices.delete(chipid);
      this.#removals.add(chipid, ++this.revision);
    }
    return candidates.length > 0;
  }
}
