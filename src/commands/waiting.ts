import { randomBytes } from 'node:crypto';
import type { Timed, TimerQueue } from '../channel/timer-queue';
import type { ChannelListener, ChannelSubscription } from '../channel/listener';
import { invalidInput, isSilence, type DeviceCloudError } from '../errors';
import type { When } from '../types';
import { commandOf, type CommandKind } from '../fleet/recent';
import { parseChipid, parseChipids } from '../input/chipid';
import { isObject } from '../util/object';
import { show } from '../util/show';
import { AWAITING_DEVICE, cancelled, CLOSED, expired, notSent, queueFull } from './outcome';
import { Command, type Caller, type Queues } from './queue';

/** The most commands that may wait for one device to show itself. */
const MAX_WAITING = 100;

/**
 * The most that may wait for all devices of an application together: two for each of the 10,000 devices
 * that the fleet remembers. They and the messages behind them then take some 50 MB.
 */
export const MAX_WAITING_IN_ALL = 20_000;

const FEWER = 'Send fewer, or let them expire sooner.';

/** Seconds between two readings of the list while a command waits for a device to be in it. */
const REFRESH = 60;

/** Milliseconds since a reading of the list began, up to which it says who is online now. */
const FRESH = 2000;

/** The longest that a reading is assumed to take, in ms: beyond it, the clock was set. */
const LONGEST_READING = 60_000;

/** Milliseconds that a command may take to find its device in the list before its channel is opened. */
const CHECK = 500;

/** When a command is sent. */
export interface CommandWait {
  readonly when: When;
  /** Seconds that it waits for its device; `now` does not wait. */
  readonly expires: number;
  /** Whether it takes the place of one like it. */
  readonly replace: boolean;
  /** Of its request, or what stands for it. */
  readonly path: string;
  readonly origin: Origin | undefined;
}

/** Whose a command is. */
export interface Origin {
  /** Id of the node. */
  readonly node?: string;
}

const ORIGIN = Symbol('origin');

/** Adds to the options of a call whose it is. */
export const withOrigin = <O extends object>(options: O, origin: Origin): O => ({
  ...options,
  [ORIGIN]: origin,
});

export const originOf = (options: object | undefined): Origin | undefined =>
  (options as Record<symbol, Origin | undefined> | undefined)?.[ORIGIN];

/** A command that waits for its device, without what it sends. */
export interface WaitingInfo {
  id: string;
  chipid: string;
  /** What it does. */
  kind: CommandKind;
  /** Of `gpio` and `pulse`. */
  pin?: number;
  level?: number;
  when: 'online' | 'upload';
  /** Since and until when it waits, in ms by this machine's clock. */
  since: number;
  until: number;
  /** Id of the node that it came from. */
  node?: string;
}

/** Which waiting commands to cancel. */
export type WaitingSelection =
  | { ids: readonly string[] }
  | { chipids: readonly (string | number)[] }
  | { all: true };

/** The commands that wait for their devices. */
export interface WaitingCommands {
  /**
   * Lists them, for each device in the order in which they will be sent.
   * @param chipid only those of this device
   * @throws DeviceCloudError `INVALID_INPUT`
   */
  list(chipid?: string | number): Promise<WaitingInfo[]>;
  /**
   * Cancels some: each fails with `CANCELLED`, and nothing is sent.
   * @param options `node`: only those of this node
   * @returns how many were cancelled
   * @throws DeviceCloudError `INVALID_INPUT`
   */
  cancel(which: WaitingSelection, options?: { node?: string }): Promise<number>;
}

/** @returns whether a command is chosen. @throws DeviceCloudError `INVALID_INPUT` */
export function readSelection(which: unknown): (command: WaitingInfo) => boolean {
  const { ids, chipids, all } = isObject(which) ? which : {};
  if ([ids, chipids, all].filter((each) => each !== undefined).length === 1) {
    if (all === true) return () => true;
    if (chipids !== undefined) {
      const devices = new Set(parseChipids(chipids));
      return ({ chipid }) => devices.has(chipid);
    }
    if (Array.isArray(ids) && ids.every((id) => typeof id === 'string')) {
      const chosen = new Set<string>(ids);
      return ({ id }) => chosen.has(id);
    }
  }
  throw invalidInput(
    'Say which waiting commands to cancel: ids (an array of texts), chipids (an array of chip numbers) or all (true), ' +
      `but not ${show(which)}.`,
  );
}

/** A reading of the list of online devices. */
export interface Listing {
  /** When its request began, in ms. */
  at: number;
  devices: { has(chipid: string): boolean };
}

/** What commands need of their application. */
export interface DeviceCommandsDeps {
  queues: Queues;
  channels: { join(chipid: string, listener: ChannelListener): ChannelSubscription };
  /** The reading of the list that the application shares. */
  list: {
    poll(seconds: number, user: { onReading(reading: Listing): void }): () => void;
    read(maxAge?: number): Promise<Listing>;
  };
  timers: TimerQueue;
  /** This machine's clock, in ms. */
  now: () => number;
  /** Own code, which never throws. */
  registry: {
    /** The number of commands that wait for a device to show itself has changed. */
    onHeld(chipid: string, held: number): void;
    /** What errors call a device. */
    titleOf(chipid: string): string;
    /** A command has failed that its caller did not abort. */
    onError(chipid: string, error: unknown): void;
  };
}

/** A device for which commands wait. */
class Device {
  /** All that have not begun, in the order of arrival; some may be in its queue. */
  readonly all: WaitingCommand[] = [];
  subscription: ChannelSubscription | undefined;
  /** When a call to it got no answer, on the clock of the timers. */
  lostAt = -Infinity;

  constructor(readonly chipid: string) {}
}

/** A command that waits for its device, and then in the device's queue. A class with plain fields, since there may be thousands. */
class WaitingCommand implements Timed {
  due = 0;
  index = -1;
  /** Whether the channel of its device is open for it, and the list read. */
  isWatched = false;

  /** @param since in ms by the wall clock */
  constructor(
    readonly id: string,
    readonly command: Command,
    readonly device: Device,
    readonly wait: CommandWait,
    readonly since: number,
    readonly expiresAt: number,
    readonly owner: DeviceCommands,
  ) {}

  /** Whether it waits for its device, and not in the queue. */
  get isWaiting(): boolean {
    return !this.command.isSettled && this.command.queue === undefined;
  }

  onDue(): void {
    this.owner.onDue(this);
  }
}

/**
 * All commands to devices of the open API. They are sent at once, or wait until their device shows itself: `online` by the list of
 * online devices or by a live upload, `upload` by its next live upload. Then they go through the device's queue, in the
 * order of arrival. After a call without an answer, those that have not begun wait for the next sign of life.
 */
export class DeviceCommands implements WaitingCommands {
  readonly #deps: DeviceCommandsDeps;
  /** The devices for which a command waits. */
  readonly #devices = new Map<string, Device>();
  readonly #prefix = randomBytes(4).toString('hex');
  #count = 0;
  #size = 0;
  #listUsers = 0;
  #leaveList: (() => void) | undefined;
  #isClosed = false;

  constructor(deps: DeviceCommandsDeps) {
    this.#deps = deps;
  }

  /** How many commands wait for a device and are not in its queue. */
  waiting(chipid: string): number {
    let count = 0;
    for (const { isWaiting } of this.#devices.get(chipid)?.all ?? []) if (isWaiting) count++;
    return count;
  }

  /**
   * Carries a command out: `now` in its device's queue, the others after the device has shown itself.
   * @param work sends it; it is called at most once
   * @throws DeviceCloudError `QUEUE_FULL`, `EXPIRED` or `UNREACHABLE` if it never began; what its work throws
   */
  run<T>(chipid: string, work: () => Promise<T>, caller: Caller, wait: CommandWait): Promise<T> {
    const { queues } = this.#deps;
    const command = new Command(chipid, work, caller, this.#onFailure);
    if (wait.when === 'now') return queues.run(command);
    return queues.run(command, (held) => this.#hold(held, wait));
  }

  list(chipid?: string | number): Promise<WaitingInfo[]> {
    return Promise.resolve().then(() => {
      if (chipid === undefined) return [...this.#all()].map(infoOf);
      const device = this.#devices.get(parseChipid(chipid));
      return device ? [...device.all].map(infoOf) : [];
    });
  }

  cancel(which: WaitingSelection, { node }: { node?: string } = {}): Promise<number> {
    return Promise.resolve().then(() => {
      const isChosen = readSelection(which);
      let count = 0;
      for (const waiting of [...this.#all()]) {
        const info = infoOf(waiting);
        if (!isChosen(info) || (node !== undefined && info.node !== node)) continue;
        if (this.#cancel(waiting, 'Cancelled before its device showed itself')) count++;
      }
      return count;
    });
  }

  /** A call to a device has failed: a command's, or the push of a request. */
  failed(chipid: string, error: unknown): void {
    if (isSilence(error)) this.#lost(chipid);
    this.#deps.registry.onError(chipid, error);
  }

  /** Ends the commands that have waited for their device. The other ones end with the queues. */
  close(): void {
    this.#isClosed = true;
    for (const { all } of [...this.#devices.values()])
      for (const { command } of [...all])
        this.#deps.queues.refuse(command, this.#notSent(command.chipid));
  }

  /** The time of a command for finding its device in the list has passed, or it has expired. */
  onDue(waiting: WaitingCommand): void {
    const { timers, queues, registry } = this.#deps;
    const { command, wait, expiresAt } = waiting;
    if (timers.now() >= expiresAt) {
      queues.refuse(command, expired(registry.titleOf(command.chipid), wait.expires));
    } else {
      timers.set(waiting, expiresAt);
      this.#watch(waiting);
    }
  }

  /** A command that its caller aborted says nothing about the device. */
  readonly #onFailure = ({ chipid, caller, hasTurn }: Command, error: unknown): void => {
    if (caller.signal?.aborted) return;
    if (hasTurn) this.failed(chipid, error);
    else this.#deps.registry.onError(chipid, error);
  };

  /** Keeps a command until its device shows itself. */
  #hold(command: Command, wait: CommandWait): void {
    const { queues, timers } = this.#deps;
    const { chipid } = command;
    const device = this.#devices.get(chipid) ?? new Device(chipid);
    if (wait.replace) this.#replace(device, wait);
    const refusal = this.#refusalOf(device);
    if (refusal) {
      queues.refuse(command, refusal);
      return;
    }
    const now = timers.now();
    const expiresAt = now + wait.expires * 1000;
    const id = `${this.#prefix}${(++this.#count).toString(36)}`;
    const since = this.#deps.now();
    const waiting = new WaitingCommand(id, command, device, wait, since, expiresAt, this);
    command.isCounted = false;
    command.onSettled = () => this.#remove(waiting);
    device.all.push(waiting);
    this.#devices.set(chipid, device);
    this.#size++;
    timers.set(waiting, wait.when === 'online' ? Math.min(expiresAt, now + CHECK) : expiresAt);
    this.#changed(chipid);
    command.caller.progress?.(AWAITING_DEVICE);
    if (wait.when === 'online') void this.#findInList(waiting);
    else this.#watch(waiting);
  }

  /** A newer command takes the place of those like it. */
  #replace({ all }: Device, wait: CommandWait): void {
    const isAlike = alikeTo(wait);
    for (const waiting of [...all])
      if (isAlike(waiting.wait)) this.#cancel(waiting, 'Replaced by a newer command');
  }

  /** @returns false if it has begun or ended by now */
  #cancel({ command }: WaitingCommand, why: string): boolean {
    if (command.isSettled) return false;
    const { queues, registry } = this.#deps;
    queues.refuse(command, cancelled(registry.titleOf(command.chipid), why));
    return true;
  }

  *#all(): Iterable<WaitingCommand> {
    for (const { all } of this.#devices.values()) yield* all;
  }

  /** Why one more command cannot wait for a device. */
  #refusalOf({ chipid, all }: Device): DeviceCloudError | undefined {
    const full = (count: number, whom: string): DeviceCloudError =>
      queueFull(this.#deps.registry.titleOf(chipid), `${count} commands wait for ${whom}`, FEWER);
    if (this.#isClosed) return this.#notSent(chipid);
    if (all.length >= MAX_WAITING) return full(MAX_WAITING, 'this device already');
    return this.#size < MAX_WAITING_IN_ALL
      ? undefined
      : full(MAX_WAITING_IN_ALL, 'devices of this application already');
  }

  /** A command has begun, or was refused. */
  #remove(waiting: WaitingCommand): void {
    const { device, isWatched, wait } = waiting;
    device.all.splice(device.all.indexOf(waiting), 1);
    this.#size--;
    this.#deps.timers.remove(waiting);
    if (isWatched && wait.when === 'online') this.#watchList(-1);
    if (device.all.length === 0) {
      device.subscription?.release();
      // A command that replaced the last one is about to come.
      device.subscription = undefined;
      this.#devices.delete(device.chipid);
    }
    this.#changed(device.chipid);
  }

  /** The device has shown itself. The first command may begin at once, and its caller may add others: these do not count. */
  #release(device: Device, isListed = false): void {
    for (const waiting of [...device.all])
      if (waiting.isWaiting && (!isListed || waiting.wait.when === 'online'))
        this.#deps.queues.add(waiting.command);
  }

  /** A call to a device got no answer: it counts as gone until it shows itself. */
  #lost(chipid: string): void {
    const device = this.#devices.get(chipid);
    if (!device) return;
    const { queues, timers } = this.#deps;
    device.lostAt = timers.now();
    for (const waiting of [...device.all]) {
      const { command } = waiting;
      if (command.isSettled || !command.queue) continue;
      queues.withdraw(command);
      // The callers behind it saw their places change, and may have aborted it.
      if (!waiting.isWaiting) continue;
      this.#watch(waiting);
      command.caller.progress?.(AWAITING_DEVICE);
    }
  }

  /** Opens the channel of the device and has the list read while a command waits. */
  #watch(waiting: WaitingCommand): void {
    if (!waiting.isWaiting) return;
    const { device, isWatched, wait } = waiting;
    // A live upload is a sign of life for every command. Replayed ones do not reach this listener.
    device.subscription ??= this.#deps.channels.join(device.chipid, {
      onUpload: () => this.#release(device),
    });
    if (isWatched) return;
    waiting.isWatched = true;
    if (wait.when === 'online') this.#watchList(1);
  }

  #watchList(change: 1 | -1): void {
    this.#listUsers += change;
    if (this.#listUsers === 0) {
      this.#leaveList?.();
      this.#leaveList = undefined;
    } else {
      this.#leaveList ??= this.#deps.list.poll(REFRESH, {
        onReading: (reading) => {
          for (const device of this.#devices.values()) this.#show(reading, device);
        },
      });
    }
  }

  /** Reads the list once. The channel is opened for the command only after that, or if it takes long. */
  async #findInList(waiting: WaitingCommand): Promise<void> {
    const { list, timers } = this.#deps;
    const { device } = waiting;
    try {
      const sinceLost = timers.now() - device.lostAt;
      let reading = await list.read(Math.floor(Math.min(FRESH, sinceLost)));
      // That reading began before the device was lost. The next one does not.
      if (this.#isOutdated(reading, device)) reading = await list.read();
      this.#show(reading, device);
    } catch {
      // Without a list the command waits.
    }
    this.#watch(waiting);
  }

  #show(reading: Listing, device: Device): void {
    if (reading.devices.has(device.chipid) && !this.#isOutdated(reading, device))
      this.#release(device, true);
  }

  /** Whether a reading began before a call to the device got no answer. */
  #isOutdated({ at }: Listing, { lostAt }: Device): boolean {
    const age = Math.min(Math.max(0, this.#deps.now() - at), LONGEST_READING);
    return age >= this.#deps.timers.now() - lostAt;
  }

  #notSent(chipid: string): DeviceCloudError {
    return notSent(chipid, CLOSED, this.#deps.registry.titleOf(chipid));
  }

  #changed(chipid: string): void {
    this.#deps.registry.onHeld(chipid, this.waiting(chipid));
  }
}

const infoOf = ({ id, device: { chipid }, wait, since }: WaitingCommand): WaitingInfo => ({
  ...{ id, chipid, ...commandOf(wait.path), when: wait.when as WaitingInfo['when'] },
  ...{ since, until: since + wait.expires * 1000 },
  ...(wait.origin?.node !== undefined && { node: wait.origin.node }),
});

/** Whether commands do the same, and if that is to a pin, to the same one. */
function alikeTo({ path }: CommandWait): (other: CommandWait) => boolean {
  const { kind, pin } = commandOf(path);
  return (other) => {
    const { kind: otherKind, pin: otherPin } = commandOf(other.path);
    return otherKind === kind && otherPin === pin;
  };
}
