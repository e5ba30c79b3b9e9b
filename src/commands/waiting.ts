import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Timed, TimerQueue } from '../channel/timer-queue';
import type { ChannelListener, ChannelSubscription } from '../channel/listener';
import { isSilence, type DeviceCloudError } from '../errors';
import type { ServiceClock } from '../http/headers';
import { CLOSED } from '../http/deadline';
import type { ListPoller, ListReading } from '../fleet/list-poller';
import { commandOf } from '../fleet/recent';
import type { FleetRegistry } from '../fleet/registry';
import { parseChipid } from '../input/chipid';
import {
  AWAITING_DEVICE,
  CANCELLED,
  cancelled,
  expired,
  FEWER,
  notSent,
  queueFull,
  tooOld,
} from './outcome';
import { Command, type Caller, type Queues } from './queue';
import { isOfUnknownAge, leftOf, timeLeft, type SavedCall, type SavedCommand } from './saved-call';
import {
  readSelection,
  type CommandWait,
  type WaitingCommands,
  type WaitingInfo,
  type WaitingSelection,
} from './waiting-list';

/** The most commands that may wait for one device to show itself. */
export const MAX_WAITING = 100;

/**
 * The most that may wait for all devices of an application together: two for each of the 10,000 devices
 * that the fleet remembers. They and the messages behind them then take some 50 MB.
 */
export const MAX_WAITING_IN_ALL = 20_000;

const ELSEWHERE = 'another process has the device by now';

const REMOVED = 'The node was removed';
const REPLACED = 'Replaced by a newer command';

/** Commands that are cancelled in one turn of the event loop. */
const CANCELLED_AT_ONCE = 200;

/** Milliseconds by which the times of events and answers may differ. */
const INACCURACY = 3000;

/** Milliseconds between two readings of the list while a command waits for a device to be in it. */
const REFRESH = 60_000;

/** Milliseconds since a reading of the list began, up to which it says who is online now. */
const FRESH = 2000;

/** The longest that a reading is assumed to take, in ms: beyond it, the clock was set. */
const LONGEST_READING = 60_000;

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
  /** Own code, which never throws. */
  registry: Pick<FleetRegistry, 'onHeld' | 'titleOf' | 'onError'>;
}

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
  /** Whether it is written down, or nothing keeps it: until then it does not count as waiting. */
  isSaved: boolean;
  /** Until when it waits, on the clock of the timers; undefined while that is unknown: then it is not sent. */
  expiresAt: number | undefined;
  /** Since and until when, by the clock of this machine, for people; the end by the clock of the service, if it is known. */
  since = 0;
  until = 0;
  serviceUntil = Infinity;

  constructor(
    readonly id: string,
    readonly command: Command,
    readonly device: Device,
    readonly wait: CommandWait,
    /** As an earlier process has left it. */
    readonly found: SavedCommand | undefined,
    readonly owner: DeviceCommands,
  ) {
    this.isSaved = found !== undefined || wait.origin?.saved === undefined;
  }

  get order(): number | undefined {
    return this.wait.origin?.saved?.order;
  }

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

  /**
   * Carries a command out: `now` in its device's queue, the others after the device has shown itself.
   * @param work sends it; it is called at most once
   * @throws DeviceCloudError `QUEUE_FULL`, `EXPIRED` or `UNREACHABLE` if it never began; what its work throws
   */
  run<T>(chipid: string, work: () => Promise<T>, caller: Caller, wait: CommandWait): Promise<T> {
    const { queues } = this.#deps;
    const { saved } = wait.origin ?? {};
    if (wait.when === 'now' || !saved) {
      const command = new Command(chipid, work, caller, this.#onFailure);
      if (wait.when === 'now') return queues.run(command);
      return queues.run(command, (held) => this.#hold(held, wait));
    }
    let hasBegun = false;
    const begin = async (): Promise<T> => {
      await saved.begin(chipid);
      hasBegun = true;
      return work();
    };
    const command = new Command(chipid, begin, caller, this.#onFailure);
    command.saved = saved;
    const outcome = queues.run(command, (held) => this.#hold(held, wait));
    return outcome.catch(async (error: unknown) => {
      if (!hasBegun) await saved.notSent(chipid, error);
      throw error;
    });
  }

  list(chipid?: string | number): WaitingInfo[] {
    const all =
      chipid === undefined ? this.#all() : (this.#devices.get(parseChipid(chipid))?.all ?? []);
    return [...all].filter(({ isSaved }) => isSaved).map(infoOf);
  }

  async cancel(
    which: WaitingSelection,
    { node, isRemoved = false }: { node?: string; isRemoved?: boolean } = {},
  ): Promise<number> {
    const isOfSelection = readSelection(which);
    const chosen = [...this.#all()].filter(
      ({ id, device: { chipid }, wait }) =>
        isOfSelection({ id, chipid }) && (node === undefined || wait.origin?.node === node),
    );
    const endings: Promise<void>[] = [];
    // There may be 20,000, each of which ends a message or a part of one: the event loop turns in between.
    for (let at = 0; at < chosen.length; at += CANCELLED_AT_ONCE) {
      if (at > 0) await nextTurn();
      const some = chosen.slice(at, at + CANCELLED_AT_ONCE);
      const why = isRemoved ? REMOVED : CANCELLED;
      endings.push(...some.flatMap((waiting) => this.#cancel(waiting, why) ?? []));
    }
    // A process that is killed after this does not bring them back. A deploy must not take so long.
    if (!isRemoved) await Promise.all(endings);
    return endings.length;
  }

  /** A call to a device has failed: a command's, or the push of a request. */
  failed(chipid: string, error: unknown): void {
    if (isSilence(error)) this.#lost(chipid);
    this.#deps.registry.onError(chipid, error);
  }

  /** Commands are another process's from now on, or are given back: they go on as the store has them. */
  letGo(isOf: (chipid: string, saved: SavedCall | undefined) => boolean): void {
    for (const { command, wait } of [...this.#all()]) {
      const saved = wait.origin?.saved;
      if (!isOf(command.chipid, saved)) continue;
      saved?.letGo();
      this.#deps.queues.refuse(command, this.#notSent(command.chipid, ELSEWHERE));
    }
  }

  /** Ends the commands that have waited for their device. The other ones end with the queues. */
  close(): void {
    this.#isClosed = true;
    for (const { command, wait } of [...this.#all()]) {
      wait.origin?.saved?.detach();
      this.#deps.queues.abandon(command, CLOSED);
    }
  }

  /** The time of a command for finding its device in the list has passed, or it has expired. */
  onDue(waiting: WaitingCommand): void {
    const { timers, queues, registry } = this.#deps;
    const { command, wait } = waiting;
    const { expiresAt = Infinity } = waiting;
    if (timers.now() >= expiresAt) {
      const title = registry.titleOf(command.chipid);
      const isLost = waiting.found && isOfUnknownAge(waiting.found);
      queues.refuse(command, isLost ? tooOld(title) : expired(title, wait.expires));
      return;
    }
    if (expiresAt < Infinity) timers.set(waiting, expiresAt);
    this.#watch(waiting);
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
    const waiting = this.#make(command, device, wait);
    const now = timers.now();
    command.isCounted = false;
    command.onSettled = () => this.#remove(waiting);
    insert(device.all, waiting);
    this.#devices.set(chipid, device);
    this.#size++;
    const { expiresAt = Infinity } = waiting;
    const check = wait.when === 'online' ? Math.min(expiresAt, now + CHECK) : expiresAt;
    if (check < Infinity) timers.set(waiting, check);
    this.#changed(chipid);
    const saving = waiting.isSaved ? undefined : this.#save(waiting);
    if (waiting.isSaved) command.caller.progress?.(AWAITING_DEVICE);
    // One of an earlier process may have expired meanwhile: nothing that comes first may send it.
    if (expiresAt <= now) this.onDue(waiting);
    else if (wait.when === 'online') void this.#findInList(waiting, saving);
    else this.#watch(waiting);
    this.#askForTime(waiting);
  }

  #make(command: Command, device: Device, wait: CommandWait): WaitingCommand {
    const { saved } = wait.origin ?? {};
    const id = saved
      ? `${saved.id}/${device.chipid}`
      : `${this.#prefix}${(++this.#count).toString(36)}`;
    const waiting = new WaitingCommand(id, command, device, wait, saved?.of(device.chipid), this);
    this.#setTime(waiting, waiting.found ? undefined : wait.expires * 1000);
    return waiting;
  }

  /** Sets until when a command waits, if that is known. @param left milliseconds, if it is new */
  #setTime(waiting: WaitingCommand, left = leftOfFound(waiting, this.#deps.clock)): void {
    const { now, timers, clock } = this.#deps;
    const { found, wait } = waiting;
    if (left !== undefined) waiting.expiresAt = timers.now() + left;
    waiting.until = now() + (left ?? found?.left ?? 0);
    waiting.since = waiting.until - wait.expires * 1000;
    const time = clock.time();
    if (time !== undefined && left !== undefined) waiting.serviceUntil = time + left;
  }

  /** Has the service's time read, if it is needed: for how long one of an earlier process still waits, and for the next one. */
  #askForTime(waiting: WaitingCommand): void {
    const { clock, list, timers } = this.#deps;
    if (waiting.serviceUntil < Infinity || waiting.command.isSettled || !waiting.order) return;
    clock.whenKnown(() => {
      if (!waiting.isWaiting) return;
      if (waiting.expiresAt !== undefined) {
        this.#setTime(waiting, waiting.expiresAt - timers.now());
        void this.#save(waiting);
        return;
      }
      this.#setTime(waiting);
      this.onDue(waiting);
    });
    // Any answer tells it.
    if (clock.time() === undefined) list.read(FRESH).catch(() => undefined);
  }

  /** Writes it down: only then it counts as waiting. */
  async #save(waiting: WaitingCommand): Promise<void> {
    const { command, wait, expiresAt = 0 } = waiting;
    const { path, when, expires, origin } = wait;
    const left = timeLeft(expiresAt - this.#deps.timers.now(), this.#deps.clock);
    try {
      const of = { path, when: when as WaitingInfo['when'], expires };
      await origin?.saved?.save(command.chipid, { ...of, ...left });
    } catch (error) {
      // The only error is one that refuses it.
      this.#deps.queues.refuse(command, error as DeviceCloudError);
      return;
    }
    if (waiting.isSaved) return;
    waiting.isSaved = true;
    if (waiting.isWaiting) command.caller.progress?.(AWAITING_DEVICE);
  }

  #replace({ all }: Device, wait: CommandWait): void {
    const { kind, pin } = commandOf(wait.path);
    for (const waiting of [...all]) {
      const other = commandOf(waiting.wait.path);
      // If it is about a pin, it replaces one about the same pin.
      if (other.kind === kind && other.pin === pin) void this.#cancel(waiting, REPLACED);
    }
  }

  /** @returns undefined if it has begun or ended by now; otherwise resolves when a restart does not bring it back */
  #cancel({ command, wait }: WaitingCommand, why: string): Promise<void> | undefined {
    if (command.isSettled) return undefined;
    const { queues, registry } = this.#deps;
    const error = cancelled(registry.titleOf(command.chipid), why);
    queues.refuse(command, error);
    return wait.origin?.saved?.notSent(command.chipid, error) ?? Promise.resolve();
  }

  *#all(): Iterable<WaitingCommand> {
    for (const { all } of this.#devices.values()) yield* all;
  }

  #refusalOf({ chipid, all }: Device): DeviceCloudError | undefined {
    const full = (count: number, whom: string): DeviceCloudError =>
      queueFull(this.#deps.registry.titleOf(chipid), `${count} commands wait for ${whom}`, FEWER);
    if (this.#isClosed) return this.#notSent(chipid, CLOSED);
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

  /**
   * The device has shown itself. The first command may begin at once, and its caller may add others: these do not count.
   * @param time of its upload: the clock of a machine that was suspended stood still
   */
  #release(device: Device, isListed: boolean, time = this.#deps.clock.time() ?? 0): void {
    for (const waiting of [...device.all]) {
      if (!waiting.isWaiting || (isListed && waiting.wait.when !== 'online')) continue;
      if (waiting.expiresAt === undefined) continue;
      if (time > waiting.serviceUntil + INACCURACY) waiting.expiresAt = -Infinity;
      if (waiting.expiresAt > this.#deps.timers.now()) this.#deps.queues.add(waiting.command);
      else this.onDue(waiting);
    }
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
      if (waiting.isSaved) command.caller.progress?.(AWAITING_DEVICE);
    }
  }

  /** Opens the channel of the device and has the list read while a command waits. */
  #watch(waiting: WaitingCommand): void {
    if (!waiting.isWaiting) return;
    const { device, isWatched, wait } = waiting;
    // A live upload is a sign of life for every command. Replayed ones do not reach this listener.
    device.subscription ??= this.#deps.channels.join(device.chipid, {
      onUpload: ({ timestamp }) => {
        // It says until when one of an earlier process waits, if no answer has said so yet.
        this.#deps.clock.sawEvent(timestamp);
        this.#release(device, false, timestamp);
      },
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
  async #findInList(waiting: WaitingCommand, saving: Promise<void> | undefined): Promise<void> {
    const { list, timers } = this.#deps;
    const { device } = waiting;
    try {
      const sinceLost = timers.now() - device.lostAt;
      let reading = await list.read(Math.floor(Math.min(FRESH, sinceLost)));
      // That reading began before the device was lost. The next one does not.
      if (this.#isOutdated(reading, device)) reading = await list.read();
      // Those behind it wait in the queue of the device, and it may be under way for long: a kill must not lose them.
      await saving;
      this.#show(reading, device);
    } catch {
      // Without a list the command waits.
    }
    this.#watch(waiting);
  }

  #show(reading: ListReading, device: Device): void {
    if (reading.devices.has(device.chipid) && !this.#isOutdated(reading, device))
      this.#release(device, true);
  }

  /** Whether a reading began before a call to the device got no answer. */
  #isOutdated({ at }: ListReading, { lostAt }: Device): boolean {
    const age = Math.min(Math.max(0, this.#deps.now() - at), LONGEST_READING);
    return age >= this.#deps.timers.now() - lostAt;
  }

  #notSent(chipid: string, why: string): DeviceCloudError {
    return notSent(this.#deps.registry.titleOf(chipid), why);
  }

  #changed(chipid: string): void {
    let waiting = 0;
    for (const { isWaiting } of this.#devices.get(chipid)?.all ?? []) if (isWaiting) waiting++;
    this.#deps.registry.onHeld(chipid, waiting);
  }
}

const infoOf = ({ id, device: { chipid }, wait, since, until }: WaitingCommand): WaitingInfo => ({
  ...{ id, chipid, ...commandOf(wait.path), when: wait.when as WaitingInfo['when'] },
  ...{ since, until },
  ...(wait.origin?.node !== undefined && { node: wait.origin.node }),
});

const leftOfFound = ({ found }: WaitingCommand, clock: ServiceClock): number | undefined =>
  found && leftOf(found, clock);

/** Adds a command in the order of arrival: one that comes back is before those that came after it. */
function insert(all: WaitingCommand[], waiting: WaitingCommand): void {
  const { order = Infinity } = waiting;
  let index = all.length;
  while (index > 0 && (all[index - 1]?.order ?? 0) > order) index--;
  all.splice(index, 0, waiting);
}
