import type { ChannelObserver, ChannelState } from '../channel/listener';
import { isDeviceCloudError } from '../errors';
import { parseChipid } from '../protocol/values';
import type { RecoveryObserver } from '../recovery/options';
import type { Charset, Chipid, CommandKind, CommandWhat, DeviceRecord, Upload } from '../types';
import { deviceTitle, oneLine, thrownText } from '../util/show';
import type { Alarm, AlarmEvent } from './limits';
import type { Book } from './book';
import {
  Devices,
  FleetDevice,
  type DeviceSnapshot,
  type FleetChanges,
  type FleetError,
  type FleetWatcher,
  type ReportedError,
  remember,
} from './devices';
import { shortText, type Recent, type RecentCommand } from './latest';
import type { ListReading } from './list-poller';
import type { TestRecorder } from './test-recorder';

const MAX_NAME = 200;
const ERRORS = 20;
const LONGEST_MESSAGE = 500;
/** Commands that succeed without an answer of the device that counts as a sign of life here. */
const NO_SIGN_OF_LIFE: ReadonlySet<CommandKind> = new Set(['channel', 'request', 'refresh']);

const errorOf = (error: unknown): Pick<FleetError, 'code' | 'message'> =>
  isDeviceCloudError(error)
    ? { code: error.code, message: error.message }
    : { code: 'ERROR', message: thrownText(error) };

/** The name of a device (section 2.1); undefined if there is none. */
function nameOf({ name }: DeviceRecord): string | undefined {
  const text: unknown = typeof name === 'number' ? String(name) : name;
  return typeof text === 'string' && text !== '' ? text.slice(0, MAX_NAME) : undefined;
}

/**
 * What is known of each device of an application. It opens nothing and calls nothing: it observes uploads,
 * channels, recoveries, commands and readings of the list. What begins with `on` is called by this package alone.
 */
export class FleetRegistry implements ChannelObserver, RecoveryObserver {
  /** When the request of the latest list began, in ms; null before the first. */
  protected readAt: number | null = null;
  /** Uploads since the start, and which of them were recovered and perhaps altered. */
  readonly uploads = { live: 0, replayed: 0, altered: 0 };
  /** The commands that have ended, by what they do and their code, which is `OK` or that of the error. Few: kinds and codes are. */
  protected readonly ended = new Map<string, { call: string; code: string; count: number }>();
  /** The last recording, which may run. */
  recorder: TestRecorder | undefined = undefined;
  readonly #now: () => number;
  readonly #devices: Devices;
  #errors: readonly ReportedError[] = [];
  #book: Book | undefined;
  /** Replaced, never changed. */
  #watchers: readonly FleetWatcher[] = [];

  /** @param first the revision to begin with: higher than any of an earlier registry of the application */
  constructor(now: () => number, first = 0) {
    this.#now = now;
    this.#devices = new Devices(first);
  }

  get(chipid: string): FleetDevice | undefined {
    return this.#devices.get(chipid);
  }

  devices(): Iterable<FleetDevice> {
    return this.#devices;
  }

  /** Names, groups and types of devices, if the client has a book. Its names come before the service's. */
  get book(): Book | undefined {
    return this.#book;
  }

  useBook(book: Book): void {
    this.#book = book;
    // Any device may have changed, and have appeared or gone as a missing one.
    book.onChange(() => this.#devices.allChanged());
  }

  /** What errors call a device. */
  titleOf(chipid: string): string {
    return deviceTitle(chipid, this.nameOf(chipid));
  }

  /** Whether a device is online, by the latest evidence; null without any. */
  isOnline(chipid: string): boolean | null {
    return this.#devices.get(chipid)?.presence.online ?? null;
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

  /** All devices that are known, and devices of the book that were never seen. */
  snapshot(): DeviceSnapshot[] {
    return [...this.#changed()];
  }

  /**
   * What is known of a device; undefined if nothing is.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  device(chipid: Chipid): DeviceSnapshot | undefined {
    const digits = parseChipid(chipid);
    const isInBook = this.#book?.find(digits) !== undefined;
    const device = this.#devices.get(digits) ?? (isInBook ? new FleetDevice(digits) : undefined);
    return device && this.#snapshotOf(device);
  }

  /**
   * The name of a device in the book or, without one, in the list once it has shown it.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  name(chipid: Chipid): string | undefined {
    return this.nameOf(parseChipid(chipid));
  }

  /** @internal As {@link name}, of a chip number that was checked. */
  nameOf(digits: string): string | undefined {
    return this.#book?.find(digits)?.name ?? this.#devices.get(digits)?.name;
  }

  /**
   * The latest upload of a device as text on one line; undefined if nothing has arrived.
   * @param longest characters
   * @param charset of text that is not valid UTF-8
   */
  latestText(chipid: string, longest: number, charset: Charset): string | undefined {
    const latest = this.#devices.get(chipid)?.latest;
    return latest && shortText(latest.base64, latest.isWhole, longest, charset);
  }

  /**
   * The last 20 uploads and commands of a device, the newest first. They are kept in memory.
   * @param charset of text that is not valid UTF-8
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  recent(chipid: Chipid, charset: Charset = 'utf-8'): Recent {
    const { uploads = [], commands = [] } = this.#devices.get(parseChipid(chipid)) ?? {};
    return {
      uploads: uploads.toReversed().map((upload) => upload.toRecent(charset)),
      commands: commands.toReversed().map((command) => ({ ...command })),
    };
  }

  /** The latest 20 errors of calls to devices and of polling the list, the newest first. */
  errors(): ReportedError[] {
    return this.#errors.map((error) => ({ ...error }));
  }

  /** Grows with each change: what {@link changesSince} would answer. */
  get revision(): number {
    return this.#devices.revision;
  }

  /**
   * The devices that have changed since an earlier answer, for a display that is kept up to date. They may be read in several
   * turns of the event loop: what changes meanwhile has a later revision.
   * @param since the revision of that answer; of another registry, or 0: all devices
   */
  changesSince(since: number): FleetChanges {
    const { revision } = this;
    const removed = this.#devices.removedSince(since);
    // A device of the book that is forgotten is missing again.
    const isMissing = (chipid: string): boolean => this.#book?.find(chipid) !== undefined;
    const complete = !this.#devices.isKnown(since) || removed.some(isMissing);
    const devices = this.#changed(complete ? undefined : since);
    return { revision, devices, removed: complete ? [] : removed, complete };
  }

  /** @param since undefined: all, and the devices of the book that were never seen */
  *#changed(since?: number): Generator<DeviceSnapshot> {
    for (const device of this.#devices)
      if (since === undefined || device.revision > since) yield this.#snapshotOf(device);
    if (since !== undefined) return;
    for (const chipid of this.#book?.file.devices.keys() ?? [])
      if (!this.#devices.get(chipid)) yield this.#snapshotOf(new FleetDevice(chipid));
  }

  /** How many devices {@link snapshot} has, and how many of them are online. */
  count(): { devices: number; online: number } {
    let devices = this.#devices.size + (this.#book?.file.devices.size ?? 0);
    let online = 0;
    for (const device of this.#devices) {
      if (device.presence.online) online++;
      if (this.#book?.find(device.chipid)) devices--;
    }
    return { devices, online };
  }

  #snapshotOf(device: FleetDevice): DeviceSnapshot {
    const snapshot = device.snapshot();
    const row = this.#book?.find(device.chipid);
    if (!row) return snapshot;
    // Not in a copy, since there may be 50,000.
    snapshot.name = row.name ?? snapshot.name;
    snapshot.groups = [...row.groups];
    if (row.type !== undefined) snapshot.type = row.type;
    if (!device.wasSeen) snapshot.missing = true;
    return snapshot;
  }

  onState(chipid: string, state: ChannelState, reason: string | undefined): void {
    const device = this.#devices.touch(chipid);
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
    this.#devices.changed(device);
    for (const watcher of this.#watchers) watcher.onState?.(device);
  }

  onLive(upload: Upload, base64?: string): void {
    this.recorder?.onLive(upload);
    this.uploads.live++;
    const at = this.#now();
    const device = this.#devices.touch(upload.chipid);
    device.lastUpload = at;
    device.wasSeen = true;
    device.presence.uploaded(at, this.readAt !== null);
    device.keep(upload, 'live', at, base64);
    for (const watcher of this.#watchers) watcher.onLive?.(device, upload);
  }

  onPush(chipid: string, bytes: Buffer): void {
    this.recorder?.onPush(chipid, bytes);
  }

  onWaiting(): void {
    this.#devices.revision++;
  }

  onHold(chipid: string, isHolding: boolean): void {
    const device = this.#devices.touch(chipid);
    // A device that was forgotten meanwhile has none that ends.
    device.holding = Math.max(0, device.holding + (isHolding ? 1 : -1));
    for (const watcher of this.#watchers) watcher.onHold?.(device);
  }

  onEmitted(upload: Upload, isLast = true): void {
    // An upload of the history is no sign of life.
    if (upload.replayed && isLast) {
      const device = this.#devices.touch(upload.chipid);
      device.wasSeen = true;
      device.keep(upload, 'replayed', this.#now());
    }
    const device = this.#devices.get(upload.chipid);
    if (device) for (const watcher of this.#watchers) watcher.onEmitted?.(device, upload);
  }

  onRecovering(chipid: string): void {
    const device = this.#devices.touch(chipid);
    if (device.recoveries++ > 0) return;
    device.emitted = device.altered = 0;
    for (const watcher of this.#watchers) watcher.onRecovering?.(device);
  }

  onRecovered(chipid: string, count: number, altered: number): void {
    const device = this.#devices.touch(chipid);
    // Each listener has its own recovery: an upload that several were given is counted once.
    device.emitted = Math.max(device.emitted, count);
    device.altered = Math.max(device.altered, altered);
    device.recoveries = Math.max(0, device.recoveries - 1);
    if (device.recoveries > 0) return;
    device.recovered += device.emitted;
    this.uploads.replayed += device.emitted;
    this.uploads.altered += device.altered;
    for (const watcher of this.#watchers) watcher.onRecovered?.(device, device.emitted);
  }

  /** Commands of a device wait in its queue, or run. */
  readonly onQueue = (chipid: string, waiting: number, running: number): void => {
    const device = this.#devices.touch(chipid);
    device.queued = waiting;
    device.running = running;
  };

  /** The number of commands that wait for a device to show itself has changed. */
  onHeld(chipid: string, held: number): void {
    this.#devices.touch(chipid).held = held;
  }

  /**
   * A command to a device was called.
   * @param outcome what the caller gets, which is returned
   */
  onCommand<T>(chipid: string, what: CommandWhat, outcome: Promise<T>): Promise<T> {
    const at = this.#now();
    const command: RecentCommand = { at, ...what, outcome: null, took: null };
    remember(this.#devices.touch(chipid).commands, command);
    outcome.then(
      () => {
        this.#onEnded(command, 'OK');
        // A push over the channel is not answered; a reply counts as an upload; the answer of a refresh says online or not.
        if (!NO_SIGN_OF_LIFE.has(command.kind)) this.onCalled(chipid, true);
      },
      (error: unknown) => {
        const { code, message } = errorOf(error);
        command.message = oneLine(message, LONGEST_MESSAGE);
        this.#onEnded(command, code);
      },
    );
    return outcome;
  }

  #onEnded(command: RecentCommand, code: NonNullable<RecentCommand['outcome']>): void {
    command.took = this.#now() - command.at;
    command.outcome = code;
    const { kind } = command;
    const known = this.ended.get(`${kind} ${code}`);
    if (known) known.count++;
    else this.ended.set(`${kind} ${code}`, { call: kind, code, count: 1 });
  }

  onError(chipid: string, error: unknown): void {
    this.#devices.touch(chipid).lastError = this.#report(chipid, error);
  }

  /** A call to a device has ended: answered, or not answered by the device; null if the service could not be reached. */
  onCalled(chipid: string, online: boolean | null): void {
    const device = this.#devices.touch(chipid);
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
    const device = this.#devices.touch(chipid);
    device.alarms = alarms;
    for (const watcher of this.#watchers)
      for (const [event, alarm] of events) watcher.onAlarm?.(device, event, alarm);
  }

  /** Applies a list, of the poller or read on demand: its names, and which devices are listed. */
  applyList({ at, devices: listed }: Pick<ListReading, 'at' | 'devices'>): void {
    const now = this.#now();
    // The answer to an earlier request may come later. A clock that was set back must not stop all readings.
    if (this.readAt !== null && at < this.readAt && this.readAt <= now) return;
    this.readAt = at;
    this.#devices.see(listed.keys());
    for (const device of this.#devices) {
      const record = listed.get(device.chipid);
      const name = record ? nameOf(record) : device.name;
      const isChanged = device.presence.read(record !== undefined, at, now);
      if (!isChanged && device.name === name) continue;
      device.wasSeen ||= record !== undefined;
      device.name = name;
      this.#devices.changed(device);
    }
  }

  /** Ends what watches the devices. */
  close(): void {
    for (const watcher of this.#watchers) watcher.onEnd?.();
    this.#watchers = [];
  }

  #report(chipid: string | null, error: unknown): FleetError {
    const reported = { ...errorOf(error), at: this.#now() };
    this.#errors = [{ ...reported, chipid }, ...this.#errors.slice(0, ERRORS - 1)];
    return reported;
  }
}
