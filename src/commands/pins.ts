/**
 * A pin keeps its level.
 *
 *     set, read back ─► kept ─► was away, rebooted, or not looked at for long ─► read ─► differs from what is wanted
 *            ▲                                                                                     │
 *            └──────────────────── once for each look, 30 s apart, at most three times in vain ◄───┘
 *
 * A look reads all pins of a device at once, sets those that differ, and reads them back: what a device has not confirmed is
 * not believed. Its calls go through the device's queue, each decided when its turn comes, so that the newest level is sent,
 * and none after the end. Frequent calls may reset a device (section 8), so a look follows another after 30 s at the earliest.
 */
import type { ChannelListener, ChannelSubscription } from '../channel/listener';
import type { TimerQueue } from '../channel/timer-queue';
import { DeviceCloudError, isDeviceCloudError, isSilence } from '../errors';
import type { ListPoller, ListReading } from '../fleet/list-poller';
import type { LevelCodes } from '../input/gpio';
import { Semaphore } from '../util/semaphore';
import {
  GAP,
  KeptDevice,
  readSaved,
  WantedPin,
  type KeeperOptions,
  type KeptPin,
  type PinKeeper,
  type SavedPin,
} from './wanted-pin';

/** The most pins of an application that are kept: two of each of the 10,000 devices that the fleet remembers. */
export const MAX_KEPT = 20_000;

/** Milliseconds that a module takes to boot, and some more. */
const BOOT = 10_000;

/** Milliseconds between two readings of the list while pins are kept. */
const REFRESH = 60_000;

/** Milliseconds since a reading of the list began, up to which it says who is online now. */
const FRESH = 2000;

/** Looks side by side: those that a wish has caused, and the others, which may all be due at once after a start. */
const WISHES = 16;
const LOOKS = 8;

/** The calls of a look. Each is made when its turn in the device's queue comes, unless it is not wanted any more by then. */
export interface PinCalls {
  /** Sets a pin. @param level returns undefined to call nothing @returns whether it was sent */
  set(
    chipid: string,
    pin: number,
    level: () => 0 | 1 | undefined,
    seconds: number,
  ): Promise<boolean>;
  /** Reads the levels. @returns undefined if it was not wanted any more */
  read(chipid: string, isWanted: () => boolean, seconds: number): Promise<string | undefined>;
  /** The value of each pin of such an answer. */
  levels(result: string, codes: LevelCodes): ReadonlyMap<number, unknown>;
}

/** What keeping pins needs of its application. */
interface KeepDeps {
  calls: PinCalls;
  channels: { join(chipid: string, listener: ChannelListener): ChannelSubscription };
  list: Pick<ListPoller, 'poll' | 'read'>;
  timers: TimerQueue;
  /** This machine's clock, in ms. */
  now: () => number;
}

/** The pins of an application that keep their levels. */
export class KeptPins {
  readonly #deps: KeepDeps;
  readonly #devices = new Map<string, KeptDevice>();
  readonly #wishes = new Semaphore(WISHES);
  readonly #looks = new Semaphore(LOOKS);
  #size = 0;
  #leaveList: (() => void) | undefined;
  #isClosed = false;

  constructor(deps: KeepDeps) {
    this.#deps = deps;
  }

  /**
   * Has a pin keep a level from now on; null ends it.
   * @returns its state at once: `pending` until the device has confirmed the level
   * @throws DeviceCloudError `QUEUE_FULL` if too many pins are kept
   */
  keep(chipid: string, number: number, level: 0 | 1 | null, options: KeeperOptions): KeptPin {
    const before = this.#devices.get(chipid)?.pins.get(number);
    if (level === null) {
      if (before) this.#remove(before);
      if (before && before.options.keeper !== options.keeper) before.end();
      else before?.changed();
      const found = before?.found ?? null;
      return { chipid, pin: number, wanted: null, found, state: 'ended' };
    }
    const pin = before ?? this.#add(new WantedPin(chipid, number, level, options, 0));
    this.#handOver(pin, options);
    pin.since = this.#deps.now();
    if (pin.wanted !== level) pin.want(level);
    pin.changed();
    const device = this.#devices.get(chipid);
    if (device && pin.isNew) void this.#start(device);
    else if (device) this.#schedule(device);
    return pin.view();
  }

  list(chipid?: string): KeptPin[] {
    return Array.from(this.#all(chipid), (pin) => pin.view());
  }

  /** Stops keeping the pins of a keeper, which is not called any more. */
  release(keeper: PinKeeper): void {
    for (const pin of [...this.#all()]) if (pin.options.keeper === keeper) this.#remove(pin);
  }

  /** What of a keeper's pins has to survive a restart. */
  saved(keeper: PinKeeper): SavedPin[] {
    const own = [...this.#all()].filter(({ options }) => options.keeper === keeper);
    return own.map((pin) => this.#toSave(pin));
  }

  /** Continues with what was saved: a pin that has a newer level by now keeps that one. */
  restore(values: unknown, options: KeeperOptions): void {
    for (const value of Array.isArray(values) ? (values as unknown[]) : []) {
      const saved = readSaved(value);
      if (saved) this.#restore(saved, options);
    }
  }

  /** A device has been told to reset, or may have been. */
  rebooted(chipid: string): void {
    const device = this.#devices.get(chipid);
    if (!device || !this.#isKept(device)) return;
    device.notBefore = this.#deps.timers.now() + BOOT;
    for (const pin of device.pins.values()) pin.doubt(true);
    this.#schedule(device);
  }

  close(): void {
    this.#isClosed = true;
    for (const device of this.#devices.values()) this.#quiet(device);
    this.#leaveList?.();
  }

  /** The pins that are kept, of one device or of all. */
  *#all(chipid?: string): Generator<WantedPin> {
    for (const device of this.#devices.values())
      if (chipid === undefined || device.chipid === chipid) yield* device.pins.values();
  }

  #toSave(pin: WantedPin): SavedPin {
    const passed = this.#deps.now() - this.#deps.timers.now();
    const time = (at = -Infinity): number | null =>
      at === -Infinity ? null : Math.round(at + passed);
    return {
      ...{ chipid: pin.chipid, pin: pin.pin, wanted: pin.wanted, found: pin.found },
      ...{ state: pin.state, since: pin.since, setAt: pin.isNew ? null : time(pin.setAt) },
      lookedAt: time(this.#devices.get(pin.chipid)?.lookedAt),
    };
  }

  /** Keeps a pin as it was saved, unless a newer level is wanted of it, or there are too many. */
  #restore(saved: SavedPin, options: KeeperOptions): void {
    const { timers, now } = this.#deps;
    const { chipid, pin: number, wanted, since, setAt, lookedAt } = saved;
    const ownTime = (at: number): number => timers.now() - Math.max(0, now() - at);
    const before = this.#devices.get(chipid)?.pins.get(number);
    if (before ? before.since >= since : this.#size >= MAX_KEPT) return;
    const pin = before ?? this.#add(new WantedPin(chipid, number, wanted, options, since));
    this.#handOver(pin, options);
    Object.assign(pin, { wanted, since, found: saved.found, state: saved.state });
    pin.isNew = setAt === null;
    if (setAt !== null) pin.setAt = ownTime(setAt);
    const device = this.#devices.get(chipid);
    if (!device) return;
    if (lookedAt !== null) device.lookedAt = Math.max(device.lookedAt, ownTime(lookedAt));
    // Whether its power was lost meanwhile is unknown. A pin that differs is left alone all the same.
    if (saved.state !== 'differs') device.isDue = true;
    void this.#start(device);
  }

  #add(pin: WantedPin): WantedPin {
    const { chipid } = pin;
    if (this.#size >= MAX_KEPT)
      throw new DeviceCloudError(
        'QUEUE_FULL',
        `${MAX_KEPT} pins are kept already. Pin ${pin.pin} of device ${chipid} is not. End others with null.`,
      );
    const device = this.#devices.get(chipid) ?? new KeptDevice(chipid, (due) => this.#onDue(due));
    device.pins.set(pin.pin, pin);
    this.#devices.set(chipid, device);
    this.#size++;
    this.#leaveList ??= this.#deps.list.poll(REFRESH, {
      onReading: (reading) => {
        for (const each of [...this.#devices.values()]) this.#apply(reading, each);
      },
    });
    return pin;
  }

  #remove(pin: WantedPin): void {
    const device = this.#devices.get(pin.chipid);
    if (!device?.pins.delete(pin.pin)) return;
    this.#size--;
    if (device.pins.size > 0) return;
    this.#quiet(device);
    this.#devices.delete(device.chipid);
    if (this.#size > 0) return;
    this.#leaveList?.();
    this.#leaveList = undefined;
  }

  #quiet(device: KeptDevice): void {
    this.#deps.timers.remove(device);
    device.subscription?.release();
    device.subscription = undefined;
  }

  #handOver(pin: WantedPin, options: KeeperOptions): void {
    if (pin.options.keeper !== options.keeper) pin.end();
    pin.options = options;
  }

  #isKept(device: KeptDevice): boolean {
    return !this.#isClosed && device.pins.size > 0;
  }

  /** Looks at a device for the first time, or for a new level: at once, unless the list says that it is away. */
  async #start(device: KeptDevice): Promise<void> {
    if (device.isStarting || !this.#isKept(device)) return;
    device.isStarting = true;
    const reading = await this.#deps.list.read(FRESH).catch(() => undefined);
    device.isStarting = false;
    if (!this.#isKept(device)) return;
    if (reading) this.#apply(reading, device);
    const at = device.nextAfter(0);
    if (device.hasNew || (device.isDue && at <= this.#deps.timers.now())) this.#go(device);
    // After a deploy, the last look may be a moment ago.
    else if (device.isDue && !device.isBusy) this.#deps.timers.set(device, at);
  }

  #apply({ at, devices, invalid }: ListReading, device: KeptDevice): void {
    const { now, timers } = this.#deps;
    if (!this.#isKept(device)) return;
    // What was heard of the device since the reading began is newer. A clock that was set must not keep it so.
    const age = Math.min(Math.max(0, now() - at), REFRESH);
    if (device.knownAt > timers.now() - age) return;
    if (devices.has(device.chipid)) this.#shown(device, false);
    // A record without a chip number may be the device's.
    else if (invalid === 0 && !device.isAway) this.#lost(device, true);
  }

  /** A sign of life. Before a look is allowed, it counts only if the device is likely to be there then, too. */
  #shown(device: KeptDevice, isUpload: boolean): void {
    if (!device.isAway) return;
    const { failures, hasNew } = device;
    const at = device.nextAfter(isUpload ? 0 : failures);
    if (failures > 0 && !hasNew && this.#deps.timers.now() < at) return;
    this.#heard(device);
    device.notBefore = Math.max(device.notBefore, at);
    if (hasNew) this.#go(device);
    else this.#schedule(device);
  }

  #heard(device: KeptDevice): void {
    device.knownAt = this.#deps.timers.now();
    device.isAway = false;
    device.subscription?.release();
    device.subscription = undefined;
  }

  /** Nothing is called until the device shows itself. @param isOffline whether it is the device that does not answer */
  #lost(device: KeptDevice, isOffline: boolean): void {
    const { timers, channels } = this.#deps;
    device.isAway = true;
    device.isDue = false;
    device.knownAt = timers.now();
    timers.remove(device);
    device.subscription ??= channels.join(device.chipid, {
      onUpload: () => this.#shown(device, true),
    });
    for (const pin of device.pins.values()) pin.doubt(isOffline);
  }

  #onDue(device: KeptDevice): void {
    device.isDue = true;
    this.#go(device);
  }

  /** Has a look begin as soon as there is room: a wish does not wait for the looks that nobody waits for. */
  #go(device: KeptDevice): void {
    const limiter = device.hasNew ? this.#wishes : this.#looks;
    if (device.isBusy || device.isAway || device.limiter === limiter) return;
    device.limiter = limiter;
    void limiter.run(() => this.#visit(device));
  }

  /** Never rejects. */
  async #visit(device: KeptDevice): Promise<void> {
    device.limiter = undefined;
    if (device.isBusy) return;
    device.isBusy = true;
    this.#deps.timers.remove(device);
    const isToBeSeen = (): boolean =>
      this.#isKept(device) && !device.isAway && (device.hasNew || device.isDue);
    while (isToBeSeen()) {
      try {
        await this.#look(device);
        device.failures = 0;
      } catch (error) {
        device.failures++;
        if (this.#isKept(device)) this.#lost(device, isSilence(error) && !device.hasAnswered);
      }
      device.lookedAt = this.#deps.timers.now();
    }
    device.isBusy = false;
    this.#schedule(device);
  }

  async #look(device: KeptDevice): Promise<void> {
    const { timers } = this.#deps;
    device.isDue = device.hasAnswered = false;
    // What is new is set first, and the rest is read along with it.
    const isWish = device.hasNew;
    if (!isWish && !(await this.#read(device))) return;
    const set: WantedPin[] = [];
    for (const pin of device.pins.values()) {
      const isOverdue = pin.state === 'pending' && timers.now() - pin.setAt >= GAP;
      if ((pin.isNew || (!isWish && isOverdue)) && (await this.#set(device, pin))) set.push(pin);
    }
    if (set.length === 0 || !(await this.#read(device))) return;
    for (const pin of set) pin.tried();
  }

  /** @returns whether the pin was set: it may have ended before its turn came */
  async #set(device: KeptDevice, pin: WantedPin): Promise<boolean> {
    const level = (): 0 | 1 | undefined => {
      if (!this.#isKept(device) || device.pins.get(pin.pin) !== pin) return undefined;
      pin.isNew = false;
      pin.setAt = this.#deps.timers.now();
      pin.changed();
      return pin.wanted;
    };
    try {
      return await this.#deps.calls.set(device.chipid, pin.pin, level, pin.options.seconds);
    } catch (error) {
      pin.failed(error, isSilence(error) && !device.hasAnswered);
      throw error;
    }
  }

  /** @returns whether the levels were read */
  async #read(device: KeptDevice): Promise<boolean> {
    const { calls } = this.#deps;
    const isWanted = (): boolean => this.#isKept(device);
    if (!isWanted()) return false;
    const result = await calls
      .read(device.chipid, isWanted, device.seconds)
      .catch((error: unknown) => {
        if (isDeviceCloudError(error) && !isSilence(error))
          for (const pin of device.pins.values()) pin.tell(error);
        throw error;
      });
    if (result === undefined || !isWanted()) return false;
    this.#heard(device);
    device.hasAnswered = true;
    for (const pin of device.pins.values())
      pin.read(calls.levels(result, pin.options.codes).get(pin.pin));
    return true;
  }

  #schedule(device: KeptDevice): void {
    if (device.isBusy || device.isAway || !this.#isKept(device)) return;
    const at = device.nextLook;
    if (at === Infinity) this.#deps.timers.remove(device);
    else this.#deps.timers.set(device, at);
  }
}
