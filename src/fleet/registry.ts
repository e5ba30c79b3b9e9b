import type { ChannelObserver, ChannelState } from '../channel/listener';
import { isDeviceCloudError } from '../errors';
import type { RecoveryObserver } from '../recovery/options';
import type { DeviceRecord, Upload } from '../types';
import { deviceTitle } from '../util/show';
import { thrownText } from '../util/thrown';
import type { Alarm, AlarmEvent } from './limits';
import type { Book } from './book';
import {
  FleetDevice,
  type DeviceSnapshot,
  type FleetChanges,
  type FleetError,
  type ReportedError,
} from './device';
import { isLater, KeptUpload, type LatestSource } from './latest';
import type { ListReading } from './list-poller';
import { Counters } from './metrics';
import { RecentActivity } from './recent';
import type { TestRecorder } from './test-recorder';

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
}

/** Devices that are known at most, and how many are forgotten at once to make room. */
export const MAX_DEVICES = 10_000;
const BATCH = 500;

const MAX_NAME = 200;

const ERRORS = 20;

/** The name of a device (section 2.1); undefined if there is none. */
function nameOf({ name }: DeviceRecord): string | undefined {
  const text: unknown = typeof name === 'number' ? String(name) : name;
  return typeof text === 'string' && text !== '' ? text.slice(0, MAX_NAME) : undefined;
}

/** Adds what the book says of a device: not to a copy, since there may be 50,000. */
function withRow(snapshot: DeviceSnapshot, device: FleetDevice, book: Book): DeviceSnapshot {
  const { chipid } = device;
  if (!book.has(chipid)) return snapshot;
  const type = book.typeOf(chipid);
  snapshot.name = book.name(chipid) ?? snapshot.name;
  snapshot.groups = [...book.groupsOf(chipid)];
  if (type !== undefined) snapshot.type = type;
  if (!device.wasSeen) snapshot.missing = true;
  return snapshot;
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
  /** The latest errors of calls to devices and of readings of the list, the newest first. */
  errors: readonly ReportedError[] = [];
  readonly counters = new Counters();
  readonly recent: RecentActivity;
  /** Its names come before the service's. */
  #book: Book | undefined;
  /** The last recording, which may run. */
  recorder: TestRecorder | undefined = undefined;
  readonly #now: () => number;
  readonly #first: number;
  readonly #devices = new Map<string, FleetDevice>();
  /** Devices that were forgotten, and at which revision: as many as there can be devices. */
  readonly #removed = new Map<string, number>();
  /** Removals up to this revision are no longer known. */
  #forgotten = -Infinity;
  /** Replaced, never changed. */
  #watchers: readonly FleetWatcher[] = [];
  #seen = 0;

  /** @param first the revision to begin with: higher than any of an earlier registry of the application */
  constructor(now: () => number, first = 0) {
    this.#now = now;
    const onAnswered = (chipid: string): void => this.onCalled(chipid, true);
    this.recent = new RecentActivity(now, this.counters, onAnswered);
    this.#first = this.revision = first;
  }

  get size(): number {
    return this.#devices.size;
  }

  get(chipid: string): FleetDevice | undefined {
    return this.#devices.get(chipid);
  }

  get book(): Book | undefined {
    return this.#book;
  }

  /** Names, groups and types come from a book from now on. */
  useBook(book: Book): void {
    this.#book = book;
    // Any device may have changed, and have appeared or gone as a missing one.
    book.onChange(() => (this.#forgotten = ++this.revision));
  }

  /** The name of a device in the book or, without one, in the list. */
  nameOf(chipid: string): string | undefined {
    return this.#book?.name(chipid) ?? this.#devices.get(chipid)?.name;
  }

  titleOf(chipid: string): string {
    return deviceTitle(chipid, this.nameOf(chipid));
  }

  /** Whether a device is online, by the latest evidence; null without any. */
  isOnline(chipid: string): boolean | null {
    return this.#devices.get(chipid)?.presence.isOnline(this.readAt !== null) ?? null;
  }

  devices(): Iterable<FleetDevice> {
    return this.#devices.values();
  }

  /** Whether somebody watches the devices. */
  get isWatched(): boolean {
    return this.#watchers.length > 0;
  }

  /** @returns a function that removes it */
  addWatcher(watcher: FleetWatcher): () => void {
    this.#watchers = [...this.#watchers, watcher];
    return () => {
      this.#watchers = this.#watchers.filter((each) => each !== watcher);
    };
  }

  /**
   * Devices that changed after a revision. For one of another registry, or 0, all devices. They may be made in several turns of
   * the event loop: what changes meanwhile has a later revision.
   */
  changesSince(revision: number): FleetChanges {
    const isKnown = revision >= this.#first && revision <= this.revision;
    const complete = !isKnown || revision < this.#forgotten;
    if (complete) return { revision: this.revision, devices: this.all(), removed: [], complete };
    const missing: string[] = [];
    const removed: string[] = [];
    for (const [chipid, removedAt] of this.#removed) {
      // A device of the book that is forgotten is missing again.
      if (removedAt > revision) (this.#book?.has(chipid) ? missing : removed).push(chipid);
    }
    const devices = this.#changedAfter(revision, missing);
    return { revision: this.revision, devices, removed, complete };
  }

  *#changedAfter(revision: number, missing: readonly string[]): Generator<DeviceSnapshot> {
    for (const device of this.#devices.values())
      if (device.revision > revision) yield this.snapshotOf(device);
    for (const chipid of missing) yield this.snapshotOf(new FleetDevice(chipid));
  }

  /** All devices that are known, and devices of the book that were never seen. */
  *all(): Generator<DeviceSnapshot> {
    for (const device of this.#devices.values()) yield this.snapshotOf(device);
    for (const chipid of this.#book?.chipids() ?? [])
      if (!this.#devices.has(chipid)) yield this.snapshotOf(new FleetDevice(chipid));
  }

  /** How many devices those are, and how many are online. */
  count(): { devices: number; online: number } {
    let [devices, online] = [this.#devices.size + (this.#book?.size ?? 0), 0];
    for (const device of this.#devices.values()) {
      if (device.presence.isOnline(this.readAt !== null)) online++;
      if (this.#book?.has(device.chipid)) devices--;
    }
    return { devices, online };
  }

  /** What is known of a device, and what the book says of it. */
  snapshotOf(device: FleetDevice): DeviceSnapshot {
    const snapshot = device.snapshot(this.readAt !== null);
    return this.#book ? withRow(snapshot, device, this.#book) : snapshot;
  }

  onState(chipid: string, state: ChannelState, reason: string | undefined): void {
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
    if (!device) return;
    device.channelState = null;
    device.channelReason = undefined;
    device.wasConnected = false;
    this.#changed(device);
    for (const watcher of this.#watchers) watcher.onState?.(device);
  }

  onLive(upload: Upload, base64?: string): void {
    this.recorder?.onLive(upload);
    this.counters.uploads++;
    const at = this.#now();
    const device = this.#touch(upload.chipid);
    device.lastUpload = at;
    device.wasSeen = true;
    device.presence.uploaded(at);
    const latest = (device.latest ??= new KeptUpload());
    latest.set(upload, 'live', at, device.connections, base64);
    this.recent.upload(upload, 'live', at, latest.base64);
    for (const watcher of this.#watchers) watcher.onLive?.(device, upload);
  }

  onPush(chipid: string, bytes: Buffer): void {
    this.recorder?.onPush(chipid, bytes);
  }

  onWaiting(): void {
    this.revision++;
  }

  onHold(chipid: string, isHolding: boolean): void {
    const device = this.#touch(chipid);
    // A device that was forgotten meanwhile has none that ends.
    device.holding = Math.max(0, device.holding + (isHolding ? 1 : -1));
    for (const watcher of this.#watchers) watcher.onHold?.(device);
  }

  onEmitted(upload: Upload, isLast = true): void {
    if (upload.replayed && isLast) this.recordUpload(upload, 'replayed');
    const device = this.#devices.get(upload.chipid);
    if (device) for (const watcher of this.#watchers) watcher.onEmitted?.(device, upload);
  }

  /** Records an upload of the history, which is no sign of life. */
  recordUpload(upload: Upload, source: LatestSource): void {
    const at = this.#now();
    const device = this.#touch(upload.chipid);
    device.wasSeen = true;
    const isLatest = isLater(upload, device.latest, device.connections, at);
    if (isLatest || source === 'replayed') this.recent.upload(upload, source, at);
    if (isLatest) (device.latest ??= new KeptUpload()).set(upload, source, at, device.connections);
  }

  onRecovering(chipid: string): void {
    const device = this.#touch(chipid);
    if (device.recoveries++ > 0) return;
    device.emitted = device.altered = 0;
    for (const watcher of this.#watchers) watcher.onRecovering?.(device);
  }

  onRecovered(chipid: string, count: number, altered: number): void {
    const device = this.#touch(chipid);
    // Each listener has its own recovery: an upload that several were given is counted once.
    device.emitted = Math.max(device.emitted, count);
    device.altered = Math.max(device.altered, altered);
    device.recoveries = Math.max(0, device.recoveries - 1);
    if (device.recoveries > 0) return;
    device.recovered += device.emitted;
    this.counters.replayed += device.emitted;
    this.counters.altered += device.altered;
    for (const watcher of this.#watchers) watcher.onRecovered?.(device, device.emitted);
  }

  onQueue(chipid: string, waiting: number, running: number): void {
    const device = this.#touch(chipid);
    device.queued = waiting;
    device.running = running;
  }

  /** The number of commands that wait for a device to show itself has changed. */
  onHeld(chipid: string, held: number): void {
    this.#touch(chipid).held = held;
  }

  onError(chipid: string, error: unknown): void {
    this.#touch(chipid).lastError = this.#report(chipid, error);
  }

  /** A call to a device has ended: answered, or not answered by the device; null if the service could not be reached. */
  onCalled(chipid: string, online: boolean | null): void {
    const device = this.#touch(chipid);
    device.wasSeen ||= online === true;
    device.presence.called(online, this.#now());
  }

  onReadError(error: unknown): void {
    this.#report(null, error);
  }

  /** @param alarms all that are on @param events what has changed, in order */
  onAlarms(
    chipid: string,
    alarms: readonly Alarm[],
    events: readonly (readonly [AlarmEvent, Alarm])[] = [],
  ): void {
    const device = this.#touch(chipid);
    device.alarms = alarms;
    for (const watcher of this.#watchers)
      for (const [event, alarm] of events) watcher.onAlarm?.(device, event, alarm);
  }

  /** Applies a list, of the poller or read on demand: its names, and which devices are listed. */
  applyList({ at, devices }: Pick<ListReading, 'at' | 'devices'>): void {
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

  /** Calls no watcher any more. */
  close(): void {
    this.#watchers = [];
  }

  #report(chipid: string | null, error: unknown): FleetError {
    const known = isDeviceCloudError(error);
    const reported: FleetError = {
      code: known ? error.code : 'ERROR',
      message: known ? error.message : thrownText(error),
      at: this.#now(),
    };
    this.errors = [{ ...reported, chipid }, ...this.errors.slice(0, ERRORS - 1)];
    return reported;
  }

  #list(device: FleetDevice, record: DeviceRecord | undefined, at: number): void {
    const name = record ? nameOf(record) : device.name;
    const isChanged = device.presence.read(record !== undefined, at, this.#now());
    if (!isChanged && device.name === name) return;
    device.wasSeen ||= record !== undefined;
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
    this.recent.forget(chipid);
    this.#removed.set(chipid, ++this.revision);
    for (const [oldest, revision] of this.#removed) {
      if (this.#removed.size <= MAX_DEVICES) break;
      this.#removed.delete(oldest);
      this.#forgotten = revision;
    }
  }
}
