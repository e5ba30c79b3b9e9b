import { randomBytes } from 'node:crypto';
import type { TimerQueue } from '../channel/timer-queue';
import type { ChannelListener, ChannelSubscription } from '../channel/listener';
import { type DeviceCloudError, isOffline, isSilence } from '../errors';
import type { ServiceClock } from '../http/answer';
import { CLOSED } from '../http/deadline';
import type { ListPoller } from '../fleet/list-poller';
import type { FleetRegistry } from '../fleet/registry';
import { parseChipid } from '../protocol/values';
import { inSlices } from '../util/slices';
import { AWAITING_DEVICE, type Command, FEWER, MAX_WAITING, queueFull, type Queues } from './queue';
import { isOfUnknownAge, leftOf, timeLeft, type SavedCall } from './saved-call';
import {
  cancelled,
  Device,
  expired,
  infoOf,
  insert,
  readSelection,
  tooOld,
  WaitingCommand,
  type CommandLimits,
  type WaitingInfo,
  type WaitingSelection,
} from './waiting-list';

const MOVED = 'another process has the device by now';

const CANCELLED = 'Cancelled before its device showed itself';
const REMOVED = 'The node was removed';
const NODE_CLOSED = 'the node was closed';
const REPLACED = 'Replaced by a newer command';

/** Milliseconds by which the times of events and answers may differ. */
const INACCURACY = 3000;

/** Milliseconds between two readings of the list while a command waits for a device to be in it. */
const REFRESH = 60_000;

/** Milliseconds since a reading of the list began, up to which it says who is online now. */
const FRESH = 2000;

/** Milliseconds that a command may take to find its device in the list before its channel is opened. */
const CHECK = 500;

/** What commands need of their application. */
interface DeviceCommandsDeps {
  queues: Queues;
  channels: { join(chipid: string, listener: ChannelListener): ChannelSubscription };
  list: Pick<ListPoller, 'poll' | 'read'>;
  timers: TimerQueue;
  /** This machine's clock, in ms. */
  now: () => number;
  clock: ServiceClock;
  /** Own code, which never throws. It learns of each reading of the list first. */
  registry: Pick<FleetRegistry, 'isOnline' | 'onCalled' | 'onHeld' | 'titleOf' | 'onError'>;
}

/** The commands that wait for their devices. */
export type WaitingCommands = Pick<DeviceCommands, 'list' | 'cancel' | 'closeNode'>;

/**
 * The commands that wait until their device shows itself: `online` by the list of online devices or by a live upload, `upload`
 * by its next live upload. Then they go through the device's queue, in the order of arrival. After a call without an answer, those
 * that have not begun wait for the next sign of life.
 */
export class DeviceCommands {
  readonly #deps: DeviceCommandsDeps;
  /** The devices for which a command waits. */
  readonly #devices = new Map<string, Device>();
  readonly #prefix = randomBytes(4).toString('hex');
  #count = 0;
  /** Those that have come before the service's time was known. */
  readonly #timeless: WaitingCommand[] = [];
  /** The nodes that are gone, while their commands end: their application may close at the same time. */
  readonly #removed = new Set<string | undefined>();
  /** The commands for which the list is read. */
  readonly #listed = new Set<WaitingCommand>();
  #leaveList: (() => void) | undefined;
  #isClosed = false;

  constructor(deps: DeviceCommandsDeps) {
    this.#deps = deps;
  }

  /**
   * Carries a command out after its device has shown itself.
   * @param work sends it; it is called at most once
   * @throws DeviceCloudError `QUEUE_FULL`, `EXPIRED`, `CANCELLED` or `UNREACHABLE` if it never began; what its work throws
   */
  async run<T>(chipid: string, work: () => Promise<T>, limits: CommandLimits): Promise<T> {
    const saved = limits.origin?.saved;
    const begin = async (): Promise<T> => {
      await saved?.begin(chipid);
      command.mayHaveActed = true;
      return work();
    };
    const id = saved ? `${saved.id}/${chipid}` : `${this.#prefix}${(++this.#count).toString(36)}`;
    const command = new WaitingCommand(id, chipid, saved ? begin : work, limits, this);
    try {
      return await this.#deps.queues.run(command, () => this.#hold(command));
    } catch (error) {
      if (!command.mayHaveActed) await saved?.notSent(chipid, error);
      throw error;
    }
  }

  /**
   * Lists those that wait, for each device in the order in which they will be sent.
   * @param chipid only those of this device
   * @throws DeviceCloudError `INVALID_INPUT`
   */
  list(chipid?: string | number): WaitingInfo[] {
    const all =
      chipid === undefined ? this.#all() : (this.#devices.get(parseChipid(chipid))?.all ?? []);
    return [...all].filter(({ isSaved }) => isSaved).map(infoOf);
  }

  /**
   * Cancels some of those that wait: each fails with `CANCELLED`, and nothing is sent.
   * @param options `node`: only those of this node
   * @returns how many were cancelled, once a process that is killed does not bring them back
   * @throws DeviceCloudError `INVALID_INPUT`
   */
  async cancel(which: WaitingSelection, { node }: { node?: string } = {}): Promise<number> {
    const isOfSelection = readSelection(which);
    const chosen = [...this.#all()].filter(
      (command) =>
        isOfSelection(command) && (node === undefined || command.limits.origin?.node === node),
    );
    const endings: Promise<void>[] = [];
    await inSlices(chosen, (command) => {
      const ending = this.#cancel(command, CANCELLED);
      if (ending) endings.push(ending);
    });
    await Promise.all(endings);
    return endings.length;
  }

  /**
   * A node closes: its commands that wait end without an outcome if another one is to take them.
   * @param isRemoved whether the node is gone: then they fail with `CANCELLED`. A deploy does not wait until that is written
   */
  async closeNode(node: string, isRemoved: boolean): Promise<void> {
    if (isRemoved) this.#removed.add(node);
    const all = [...this.#all()].filter(({ limits }) => limits.origin?.node === node);
    await inSlices(all, (command) => this.#leave(command, NODE_CLOSED));
    this.#removed.delete(node);
  }

  /** A call to a device has failed: a command's, or the push of a request. */
  failed(chipid: string, error: unknown): void {
    const { registry } = this.#deps;
    if (isSilence(error)) {
      registry.onCalled(chipid, isOffline(error) ? false : null);
      this.#lost(chipid);
    }
    registry.onError(chipid, error);
  }

  /** Commands are another process's from now on, or are given back: they go on as the store has them. */
  letGo(isOf: (chipid: string, saved: SavedCall | undefined) => boolean): void {
    for (const command of [...this.#all()]) {
      const { chipid, saved } = command;
      if (!isOf(chipid, saved)) continue;
      // Not the other way round: its caller here is to know.
      this.#deps.queues.abandon(command, MOVED);
      saved?.letGo();
    }
  }

  /** Ends the commands that have waited for their device: at once those in the queues, which may be closed then. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#all()];
    for (const command of all) if (command.queue) this.#leave(command, CLOSED);
    await inSlices(all, (command) => this.#leave(command, CLOSED));
  }

  /** The time of a command for finding its device in the list has passed, or it has expired. */
  onDue(command: WaitingCommand): void {
    const { timers, queues, registry } = this.#deps;
    const { chipid, limits, found, expiresAt = Infinity } = command;
    if (timers.now() >= expiresAt) {
      const title = registry.titleOf(chipid);
      const isLost = found && isOfUnknownAge(found);
      queues.refuse(command, isLost ? tooOld(title) : expired(title, limits.expires));
      return;
    }
    if (expiresAt < Infinity) timers.set(command, expiresAt);
    this.#watch(command);
  }

  /** A command that its caller aborted says nothing about the device. */
  readonly onFailure = ({ chipid, caller, hasTurn }: Command, error: unknown): void => {
    if (caller.signal?.aborted) return;
    if (hasTurn) this.failed(chipid, error);
    else this.#deps.registry.onError(chipid, error);
  };

  /** Keeps a command until its device shows itself. */
  #hold(command: WaitingCommand): void {
    const { queues, registry, timers } = this.#deps;
    const { chipid, limits } = command;
    const device = this.#devices.get(chipid) ?? new Device(chipid);
    command.device = device;
    const replaced = device.all.filter((other) => command.replaces(other));
    if (this.#isClosed) {
      queues.abandon(command, CLOSED);
      return;
    }
    if (device.all.length - replaced.length >= MAX_WAITING) {
      const waiting = `${MAX_WAITING} commands wait for this device already`;
      queues.refuse(command, queueFull(registry.titleOf(chipid), waiting, FEWER));
      return;
    }
    this.#setTime(command);
    command.onSettled = () => this.#remove(command);
    insert(device.all, command);
    this.#devices.set(chipid, device);
    const now = timers.now();
    const { expiresAt = Infinity } = command;
    const check = limits.when === 'online' ? Math.min(expiresAt, now + CHECK) : expiresAt;
    if (check < Infinity) timers.set(command, check);
    this.#changed(chipid);
    const saving = command.isSaved ? undefined : this.#save(command);
    // Not before: the channel stays open for this one.
    void this.#replace(replaced, command, saving);
    if (command.isSaved) limits.progress?.(AWAITING_DEVICE);
    // One of an earlier process may have expired meanwhile: nothing that comes first may send it.
    if (expiresAt <= now) this.onDue(command);
    else if (limits.when === 'online') void this.#findInList(command, saving);
    else this.#watch(command);
    this.#askForTime(command);
  }

  /** Sets until when a command waits, as far as that is known. */
  #setTime(command: WaitingCommand): void {
    const { timers, clock, now } = this.#deps;
    const { found, limits } = command;
    const known = found ? leftOf(found, clock) : limits.expires;
    if (known !== undefined) command.expiresAt ??= timers.now() + known;
    const { expiresAt } = command;
    const left = expiresAt === undefined ? (found?.left ?? 0) : expiresAt - timers.now();
    command.until = now() + left;
    const time = clock.time();
    if (time !== undefined) command.serviceUntil = time + left;
  }

  /** Has the service's time read, if it is needed: for how long one of an earlier process still waits, and for the next one. */
  #askForTime(command: WaitingCommand): void {
    const { clock, list } = this.#deps;
    if (command.serviceUntil !== undefined || command.isSettled || !command.saved) return;
    if (this.#timeless.push(command) === 1) clock.whenKnown(() => void this.#timeIsKnown());
    // Any answer tells it.
    if (clock.time() === undefined) list.read(FRESH).catch(() => undefined);
  }

  async #timeIsKnown(): Promise<void> {
    const all = this.#timeless.splice(0);
    // All at once: what told the time may be an upload, which releases them right after this.
    for (const command of all) this.#setTime(command);
    await inSlices(all, (command) => {
      if (command.isSettled || command.saved?.isDetached) return;
      // Those of an earlier process have the time at which they were written.
      if (typeof command.found?.at === 'number') this.onDue(command);
      else void this.#save(command);
    });
  }

  /** Writes it down: only then it counts as waiting. */
  async #save(command: WaitingCommand): Promise<void> {
    const { chipid, saved, expiresAt = 0 } = command;
    const { timers, clock, queues } = this.#deps;
    try {
      await saved?.save(chipid, timeLeft(expiresAt - timers.now(), clock));
    } catch (error) {
      // The only error is one that refuses it.
      queues.refuse(command, error as DeviceCloudError);
      return;
    }
    if (command.isSaved) return;
    command.isSaved = true;
    if (command.isWaiting) command.limits.progress?.(AWAITING_DEVICE);
  }

  /** @returns undefined if it has begun or ended by now; otherwise resolves when a restart does not bring it back */
  #cancel(command: WaitingCommand, why: string): Promise<void> | undefined {
    const { chipid, isSettled, saved } = command;
    if (isSettled) return undefined;
    const error = cancelled(this.#deps.registry.titleOf(chipid), why);
    this.#deps.queues.refuse(command, error);
    return saved?.notSent(chipid, error) ?? Promise.resolve();
  }

  /** A command takes the place of others once it is written: a kill loses not both, and one that is refused ends none. */
  async #replace(
    others: readonly WaitingCommand[],
    command: WaitingCommand,
    saving: Promise<void> | undefined,
  ): Promise<void> {
    for (const other of others) other.isReplaced = true;
    if (saving) await saving;
    for (const other of others) {
      other.isReplaced = false;
      if (command.isSaved) void this.#cancel(other, REPLACED);
    }
  }

  /** Its caller goes away: another one is to take it, or it ends as not sent. */
  #leave(command: WaitingCommand, why: string): void {
    if (command.isSettled) return;
    const { saved, limits } = command;
    if (this.#removed.has(limits.origin?.node)) void this.#cancel(command, REMOVED);
    else {
      saved?.detach();
      this.#deps.queues.abandon(command, why);
    }
  }

  *#all(): Iterable<WaitingCommand> {
    for (const { all } of this.#devices.values()) yield* all;
  }

  /** A command has begun, or was refused. */
  #remove(command: WaitingCommand): void {
    const { device } = command;
    device.all.splice(device.all.indexOf(command), 1);
    this.#deps.timers.remove(command);
    if (this.#listed.delete(command) && this.#listed.size === 0) {
      this.#leaveList?.();
      this.#leaveList = undefined;
    }
    if (device.all.length === 0) {
      device.subscription?.release();
      this.#devices.delete(device.chipid);
    }
    this.#changed(device.chipid);
  }

  /**
   * The device has shown itself. The first command may begin at once, and its caller may add others: these do not count.
   * @param time of its upload: the clock of a machine that was suspended stood still
   */
  #release(device: Device, isListed: boolean, time = this.#deps.clock.time() ?? 0): void {
    if (this.#isClosed) return;
    for (const command of [...device.all]) {
      if (!command.isWaiting || (isListed && command.limits.when !== 'online')) continue;
      if (command.expiresAt === undefined || command.isReplaced) continue;
      if (time > (command.serviceUntil ?? Infinity) + INACCURACY) command.expiresAt = -Infinity;
      if (command.expiresAt > this.#deps.timers.now()) this.#deps.queues.add(command);
      else this.onDue(command);
    }
  }

  /** A call to a device got no answer: it counts as gone until it shows itself. */
  #lost(chipid: string): void {
    const { queues } = this.#deps;
    for (const command of [...(this.#devices.get(chipid)?.all ?? [])]) {
      if (command.isSettled || !command.queue) continue;
      queues.withdraw(command);
      // The callers behind it saw their places change, and may have aborted it.
      if (!command.isWaiting) continue;
      this.#watch(command);
      if (command.isSaved) command.limits.progress?.(AWAITING_DEVICE);
    }
  }

  /** Opens the channel of the device and has the list read while a command waits. */
  #watch(command: WaitingCommand): void {
    if (!command.isWaiting) return;
    const { device, limits } = command;
    // A live upload is a sign of life for every command. Replayed ones do not reach this listener.
    device.subscription ??= this.#deps.channels.join(device.chipid, {
      onUpload: ({ timestamp }) => this.#release(device, false, timestamp),
    });
    if (limits.when !== 'online') return;
    this.#listed.add(command);
    this.#leaveList ??= this.#deps.list.poll(REFRESH, {
      onReading: () => void inSlices([...this.#devices.values()], (each) => this.#show(each)),
    });
  }

  /** Reads the list once. The channel is opened for the command only after that, or if it takes long. */
  async #findInList(command: WaitingCommand, saving: Promise<void> | undefined): Promise<void> {
    const { list, registry } = this.#deps;
    const { device } = command;
    const { chipid } = device;
    try {
      const { devices } = await list.read(FRESH);
      // The device has not answered a call since that list was asked for.
      if (devices.has(chipid) && !registry.isOnline(chipid)) await list.read();
      // Those behind it wait in the queue of the device, and it may be under way for long: a kill must not lose them.
      await saving;
      this.#show(device);
    } catch {
      // Without a list the command waits.
    }
    this.#watch(command);
  }

  /** The list has been read. */
  #show(device: Device): void {
    if (this.#deps.registry.isOnline(device.chipid)) this.#release(device, true);
  }

  #changed(chipid: string): void {
    const all = this.#devices.get(chipid)?.all ?? [];
    this.#deps.registry.onHeld(chipid, all.filter(({ isWaiting }) => isWaiting).length);
  }
}
