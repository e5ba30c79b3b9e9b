/**
 * A pin keeps its level.
 *
 *     set, read back ─► kept ─► was away, rebooted, or not looked at for long ─► read ─► has another level ─► set, read back
 *                        ▲                                                                                        │
 *                        └─────────────────── has the level by now ◄─────────── differs: until the next look ◄────┘
 *
 * A look reads all pins of a device at once, sets those that differ, and reads them back: what a device has not confirmed is
 * not believed. Its calls go through the device's queue, each decided when its turn comes, so that the newest level is sent,
 * and none after the end. Frequent calls may reset a device (section 8), so a look follows another after 30 s at the earliest.
 * The store has the wishes, each before anything is called for it.
 */
import type { ChannelListener, ChannelSubscription } from '../channel/listener';
import type { Timed, TimerQueue } from '../channel/timer-queue';
import { DeviceCloudError, isDeviceCloudError, isSilence } from '../errors';
import type { ListPoller, ListReading } from '../fleet/list-poller';
import { levelOf, type LevelCodes } from '../input/gpio';
import type { Store } from '../store/store';
import type { KeptPin, KeptState, PinKeeper } from '../types';
import { isObject } from '../util/object';
import { Semaphore } from '../util/semaphore';
import { isolated } from '../util/thrown';

/** The most pins of an application that are kept: two of each of the 10,000 devices that the fleet remembers. */
export const MAX_KEPT = 20_000;

/** Milliseconds between two looks at a device. */
const GAP = 30_000;

/** Milliseconds that a module takes to boot, and some more. */
const BOOT = 10_000;

/** Milliseconds between two readings of the list while pins are kept, and up to which a reading says who is online now. */
const REFRESH = 60_000;
const FRESH = 2000;

/** Looks side by side: those that a wish has caused, and the others, which may all be due at once after a start. */
const WISHES = 16;
const LOOKS = 8;

type Edge = 0 | 1;

/** A keeper's options, checked and complete. */
export interface KeeperOptions {
  readonly id: string;
  readonly keeper: PinKeeper;
  readonly check: number;
  readonly codes: LevelCodes;
  readonly seconds: number;
}

/** The calls of a look. Each is made when its turn in the device's queue comes, unless it is not wanted any more by then. */
export interface PinCalls {
  /** Sets a pin. @param level returns undefined to call nothing @returns whether it was sent */
  set(
    chipid: string,
    pin: number,
    level: () => Edge | undefined,
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
  store: Store;
  /** This machine's clock, in ms. */
  now: () => number;
}

/** A pin, and why it could not be set or read. */
export type Kept = KeptPin & { error?: DeviceCloudError };

/** A wish for a pin, and what was found. It is what the store has. */
class Pin {
  found: unknown = null;
  state: Exclude<KeptState, 'ended'> = 'pending';
  /** When its level was last sent, on the clock of the timers; undefined before. */
  setAt: number | undefined;
  /** What was last reported to its keeper. */
  error: DeviceCloudError | undefined;

  constructor(
    readonly chipid: string,
    readonly pin: number,
    readonly wanted: Edge,
    readonly by: KeeperOptions,
  ) {}

  get isAsWanted(): boolean {
    return levelOf(this.found) === this.wanted;
  }

  view(): KeptPin {
    const { chipid, pin, wanted, found, state } = this;
    return { chipid, pin, wanted, found, state };
  }

  toJSON(): object {
    const { wanted, found, state, by } = this;
    return { node: by.id, wanted, found, state };
  }
}

const keyOf = ({ chipid, pin }: Pick<Pin, 'chipid' | 'pin'>): string => `pin:${chipid}:${pin}`;

/** A device of which pins are kept. Times are on the clock of the timers. */
class Device implements Timed {
  due = 0;
  index = -1;
  readonly pins = new Map<number, Pin>();
  /** While it is away, and nothing is called: of its channel. */
  subscription: ChannelSubscription | undefined;
  isBusy = false;
  /** When it was last heard of, or lost; when it was last looked at, and when it is again. */
  knownAt = -Infinity;
  lookedAt = -Infinity;
  nextLook = Infinity;

  constructor(
    readonly chipid: string,
    readonly onDue: () => void,
  ) {}

  get hasNew(): boolean {
    return [...this.pins.values()].some(({ setAt }) => setAt === undefined);
  }
}

/** The pins of an application that keep their levels. */
export class KeptPins {
  readonly #deps: KeepDeps;
  readonly #devices = new Map<string, Device>();
  readonly #wishes = new Semaphore(WISHES);
  readonly #looks = new Semaphore(LOOKS);
  #leaveList: (() => void) | undefined;
  #isClosed = false;

  constructor(deps: KeepDeps) {
    this.#deps = deps;
  }

  /**
   * Has a pin keep a level from now on; null ends it.
   * @returns its state once the wish is written: `pending` until the device has confirmed the level
   * @throws DeviceCloudError `QUEUE_FULL` if too many pins are kept
   */
  async keep(chipid: string, pin: number, level: Edge | null, by: KeeperOptions): Promise<KeptPin> {
    const { store } = this.#deps;
    await store.loaded;
    const before = this.#devices.get(chipid)?.pins.get(pin);
    const found = before?.found ?? null;
    const ended: KeptPin = { chipid, pin, wanted: null, found, state: 'ended' };
    if (before && before.by.id !== by.id) isolated(() => before.by.keeper.onState?.(ended));
    else if (before?.wanted === level) return before.view();
    if (level === null) {
      if (before) this.#remove(before);
      await store.set(keyOf(ended), undefined);
      return ended;
    }
    if (!before && store.list('pin:').length >= MAX_KEPT)
      throw new DeviceCloudError(
        'QUEUE_FULL',
        `${MAX_KEPT} pins are kept already. Pin ${pin} of device ${chipid} is not. End others with null.`,
      );
    const wish = Object.assign(new Pin(chipid, pin, level, by), { found });
    await store.set(keyOf(wish), wish);
    if (this.#isWanted(wish)) void this.#add(wish);
    return wish.view();
  }

  /** Those of a device, or of a keeper, or all, with the errors that were reported. */
  list({ chipid, id }: { chipid?: string; id?: string } = {}): Kept[] {
    const pins = [...this.#devices.values()].flatMap((device) => [...device.pins.values()]);
    return pins
      .filter((pin) => pin.chipid === (chipid ?? pin.chipid) && pin.by.id === (id ?? pin.by.id))
      .map((pin) => ({ ...pin.view(), ...(pin.error && { error: pin.error }) }));
  }

  /** Goes on with the pins of a keeper that the store has. What they have by now is read within 30 s. */
  async restore(by: KeeperOptions): Promise<void> {
    const { store, timers } = this.#deps;
    await store.loaded;
    for (const [key, value] of store.list('pin:')) {
      const [, chipid = '', pin] = /^pin:(\d{1,20}):(\d{1,9})$/.exec(key) ?? [];
      const { node, wanted, found = null, state } = isObject(value) ? value : {};
      if (value instanceof Pin || !pin || node !== by.id || (wanted !== 0 && wanted !== 1))
        continue;
      const isKnown = state === 'kept' || state === 'differs';
      const restored = Object.assign(new Pin(chipid, Number(pin), wanted, by), {
        ...{ found, state: isKnown ? state : 'pending', setAt: -Infinity },
      });
      store.update(key, restored);
      void this.#add(restored, timers.now() + (isKnown ? GAP : 0));
    }
  }

  /** Stops keeping the pins of a keeper, which is not called any more. @param isGone whether they have ended */
  release(id: string, isGone: boolean): void {
    for (const { pins } of [...this.#devices.values()])
      for (const pin of [...pins.values()].filter(({ by }) => by.id === id)) {
        this.#remove(pin);
        this.#deps.store.update(keyOf(pin), isGone ? undefined : pin.toJSON());
      }
  }

  /** A device has been told to reset, or may have been. */
  rebooted(chipid: string): void {
    const device = this.#devices.get(chipid);
    if (!device) return;
    this.#doubt(device);
    this.#plan(device, this.#deps.timers.now() + BOOT);
  }

  close(): void {
    this.#isClosed = true;
    for (const device of this.#devices.values()) this.#quiet(device);
    this.#leaveList?.();
  }

  /** Begins to keep a pin. Its device is looked at once, unless the list says that it is away. Never rejects. */
  async #add(pin: Pin, nextLook = Infinity): Promise<void> {
    const { list } = this.#deps;
    const look = (): void =>
      void (device.hasNew ? this.#wishes : this.#looks).run(() => this.#look(device));
    const device: Device = this.#devices.get(pin.chipid) ?? new Device(pin.chipid, look);
    device.pins.set(pin.pin, pin);
    this.#devices.set(pin.chipid, device);
    this.#leaveList ??= list.poll(REFRESH, {
      onReading: (reading) => {
        for (const each of [...this.#devices.values()]) this.#apply(reading, each);
      },
    });
    const reading = await list.read(FRESH).catch(() => undefined);
    if (reading) this.#apply(reading, device);
    this.#plan(device, Math.min(device.nextLook, nextLook));
  }

  #isWanted(pin: Pin): boolean {
    return !this.#isClosed && this.#deps.store.get(keyOf(pin)) === pin;
  }

  #remove({ chipid, pin }: Pin): void {
    const device = this.#devices.get(chipid);
    device?.pins.delete(pin);
    if (!device || device.pins.size > 0) return;
    this.#quiet(device);
    this.#devices.delete(chipid);
    if (this.#devices.size > 0) return;
    this.#leaveList?.();
    this.#leaveList = undefined;
  }

  #quiet(device: Device): void {
    this.#deps.timers.remove(device);
    device.subscription?.release();
    device.subscription = undefined;
  }

  /** Has a device looked at, 30 s after the last time at the earliest; at once if a level was not sent yet. */
  #plan(device: Device, at: number): void {
    const { timers } = this.#deps;
    device.nextLook = Math.max(at, device.lookedAt + GAP);
    if (this.#isClosed || device.isBusy || device.subscription || device.pins.size === 0) return;
    if (device.hasNew || device.nextLook <= timers.now()) device.onDue();
    else if (device.nextLook < Infinity) timers.set(device, device.nextLook);
    else timers.remove(device);
  }

  #apply({ at, devices, invalid }: ListReading, device: Device): void {
    const { now, timers } = this.#deps;
    // What was heard of the device since the reading began is newer. A clock that was set must not keep it so.
    const age = Math.min(Math.max(0, now() - at), REFRESH);
    if (device.knownAt > timers.now() - age) return;
    if (devices.has(device.chipid)) this.#heard(device);
    // A record without a chip number may be the device's.
    else if (invalid === 0) this.#lost(device);
  }

  #heard(device: Device): void {
    device.knownAt = this.#deps.timers.now();
    if (!device.subscription) return;
    this.#quiet(device);
    this.#plan(device, device.knownAt);
  }

  /** Nothing is called until the device shows itself. */
  #lost(device: Device): void {
    const { timers, channels } = this.#deps;
    if (this.#isClosed || device.pins.size === 0) return;
    device.knownAt = timers.now();
    timers.remove(device);
    device.subscription ??= channels.join(device.chipid, { onUpload: () => this.#heard(device) });
    this.#doubt(device);
  }

  #doubt({ pins }: Device): void {
    for (const pin of pins.values()) this.#note(pin, pin.found, 'pending');
  }

  /** Notes what is known of a pin, and reports its state if that is another one. */
  #note(pin: Pin, found: unknown, state: Pin['state']): void {
    const isChanged = state !== pin.state;
    if (!this.#isWanted(pin) || (found === pin.found && !isChanged)) return;
    Object.assign(pin, { found, state });
    this.#deps.store.update(keyOf(pin), pin);
    if (isChanged) isolated(() => pin.by.keeper.onState?.(pin.view()));
  }

  /** Never rejects. */
  async #look(device: Device): Promise<void> {
    const { timers } = this.#deps;
    if (device.isBusy || device.subscription) return;
    if (!device.hasNew && device.nextLook > timers.now()) return;
    timers.remove(device);
    device.isBusy = true;
    const isDue = ({ setAt, isAsWanted }: Pin): boolean =>
      setAt === undefined || (!isAsWanted && timers.now() - setAt >= GAP);
    try {
      await this.#read(device, await this.#set(device, ({ setAt }) => setAt === undefined));
      const set = await this.#set(device, isDue);
      if (set.length > 0) await this.#read(device, set);
    } catch {
      this.#lost(device);
    }
    device.isBusy = false;
    device.lookedAt = timers.now();
    const checks = [...device.pins.values()].map(({ state, by }) =>
      state === 'pending' ? GAP : by.check || Infinity,
    );
    this.#plan(device, device.lookedAt + Math.min(...checks));
  }

  /** Sets some pins of a device. @returns those that were set: one may have ended before its turn came */
  async #set({ chipid, pins }: Device, isDue: (pin: Pin) => boolean): Promise<Pin[]> {
    const { calls, timers } = this.#deps;
    const set: Pin[] = [];
    for (const pin of [...pins.values()].filter(isDue)) {
      const level = (): Edge | undefined => {
        if (!this.#isWanted(pin)) return undefined;
        pin.setAt = timers.now();
        return pin.wanted;
      };
      try {
        if (await calls.set(chipid, pin.pin, level, pin.by.seconds)) set.push(pin);
      } catch (error) {
        this.#tell(pin, error);
        // What the service refuses for one pin it may do for the others.
        if (isSilence(error)) throw error;
      }
    }
    return set;
  }

  /** Reads the levels of a device. @param set the pins that were set just now */
  async #read(device: Device, set: readonly Pin[]): Promise<void> {
    const { calls, timers } = this.#deps;
    const { chipid, pins } = device;
    const isWanted = (): boolean => !this.#isClosed && pins.size > 0;
    const seconds = Math.max(...[...pins.values()].map(({ by }) => by.seconds));
    try {
      const result = await calls.read(chipid, isWanted, seconds);
      if (result === undefined) return;
      device.knownAt = timers.now();
      for (const pin of pins.values()) {
        const found = calls.levels(result, pin.by.codes).get(pin.pin) ?? null;
        if (levelOf(found) !== pin.wanted) {
          const state = pin.state === 'kept' ? 'pending' : pin.state;
          this.#note(pin, found, set.includes(pin) ? 'differs' : state);
        } else if (pin.setAt !== undefined) {
          pin.error = undefined;
          this.#note(pin, found, 'kept');
        }
      }
    } catch (error) {
      for (const pin of pins.values()) this.#tell(pin, error);
      throw error;
    }
  }

  /** Reports an error to a keeper, once for a code. */
  #tell(pin: Pin, error: unknown): void {
    if (!isDeviceCloudError(error) || isSilence(error) || pin.error?.code === error.code) return;
    pin.error = error;
    isolated(() => pin.by.keeper.onError?.(pin.view(), error));
  }
}
