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
import type { ServiceClock } from '../http/headers';
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
  clock: ServiceClock;
  store: Store;
  /** This machine's clock, in ms. */
  now: () => number;
}

/** A pin, and why it could not be set or read. */
export type Kept = KeptPin & { error?: DeviceCloudError };

/** A wish for a pin, and what was found. It is what the store has, and changes until it is written. */
class Pin {
  found: unknown = null;
  state: Exclude<KeptState, 'ended'> = 'pending';
  /** Whether its level has not been sent yet. */
  isNew = true;
  /** When it was last set, on the clock of the timers; when its device was last looked at, by the service's. */
  setAt = -Infinity;
  looked: number | undefined;
  /** What was last reported to its keeper. */
  error: DeviceCloudError | undefined;

  constructor(
    readonly chipid: string,
    readonly pin: number,
    readonly wanted: 0 | 1,
    public by: KeeperOptions,
  ) {}

  get isAsWanted(): boolean {
    return levelOf(this.found) === this.wanted;
  }

  view(): KeptPin {
    const { chipid, pin, wanted, found, state } = this;
    return { chipid, pin, wanted, found, state };
  }

  toJSON(): object {
    const { wanted, found, state, isNew, looked, by } = this;
    return { node: by.id, wanted, found, state, isNew, looked };
  }
}

const keyOf = ({ chipid, pin }: Pick<Pin, 'chipid' | 'pin'>): string => `pin:${chipid}:${pin}`;

/** Reads a pin of a keeper, which may have been edited. */
function readPin(key: string, value: unknown, by: KeeperOptions): Pin | undefined {
  const [, chipid = '', pin = ''] = /^pin:(\d{1,20}):(\d{1,9})$/.exec(key) ?? [];
  const { node, wanted, found, state, isNew, looked } = isObject(value) ? value : {};
  if (pin === '' || node !== by.id || (wanted !== 0 && wanted !== 1)) return undefined;
  return Object.assign(new Pin(chipid, Number(pin), wanted, by), {
    ...{ found, isNew: isNew !== false },
    ...((state === 'kept' || state === 'differs') && { state }),
    ...(typeof looked === 'number' && { looked }),
  });
}

/** A device of which pins are kept. Times are on the clock of the timers. */
class Device implements Timed {
  due = 0;
  index = -1;
  readonly pins = new Map<number, Pin>();
  /** While it is away, and nothing is called: of its channel. */
  subscription: ChannelSubscription | undefined;
  /** How many look at it, or are about to. */
  held = 0;
  /** Whether it is to be looked at although its pins are known. */
  isDue = false;
  /** When it was last heard of, or lost; when it was last looked at; when it has booted. */
  knownAt = -Infinity;
  lookedAt = -Infinity;
  booted = -Infinity;

  constructor(
    readonly chipid: string,
    readonly look: (device: Device) => void,
  ) {}

  onDue(): void {
    this.look(this);
  }

  get hasNew(): boolean {
    return [...this.pins.values()].some(({ isNew }) => isNew);
  }

  /** When it is to be looked at; Infinity if not before it was away. */
  get nextLook(): number {
    if (this.hasNew) return -Infinity;
    const checks = [...this.pins.values()].map(({ state, by }) =>
      state === 'pending' || this.isDue ? GAP : by.check || Infinity,
    );
    return Math.max(this.lookedAt + Math.max(GAP, Math.min(...checks)), this.booted);
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
  async keep(
    chipid: string,
    pin: number,
    level: 0 | 1 | null,
    by: KeeperOptions,
  ): Promise<KeptPin> {
    const { store } = this.#deps;
    await store.loaded;
    const key = keyOf({ chipid, pin });
    const before = this.#devices.get(chipid)?.pins.get(pin);
    const ended: KeptPin = {
      ...{ chipid, pin, wanted: null, found: before?.found ?? null, state: 'ended' },
    };
    if (before && before.by.id !== by.id) isolated(() => before.by.keeper.onState?.(ended));
    if (level === null) {
      if (before) this.#remove(before);
      await store.set(key, undefined);
      return ended;
    }
    if (before?.wanted === level && before.by.id === by.id) return before.view();
    if (!before && store.list('pin:').length >= MAX_KEPT)
      throw new DeviceCloudError(
        'QUEUE_FULL',
        `${MAX_KEPT} pins are kept already. Pin ${pin} of device ${chipid} is not. End others with null.`,
      );
    const wish = before?.wanted === level ? before : new Pin(chipid, pin, level, by);
    // Nothing is called for the one before any more.
    if (before && wish !== before) before.isNew = false;
    wish.by = by;
    wish.found = ended.found;
    await store.set(key, wish);
    if (this.#isWanted(wish) && wish !== before) void this.#add(wish);
    return wish.view();
  }

  /** Those of a device, or of a keeper, or all, with the errors that were reported. */
  list({ chipid, id }: { chipid?: string; id?: string } = {}): Kept[] {
    const pins = [...this.#devices.values()].flatMap((device) => [...device.pins.values()]);
    return pins
      .filter((pin) => pin.chipid === (chipid ?? pin.chipid) && pin.by.id === (id ?? pin.by.id))
      .map((pin) => ({ ...pin.view(), ...(pin.error && { error: pin.error }) }));
  }

  /**
   * Goes on with the pins of a keeper that the store has.
   * @param isMeant whether a pin still is the keeper's: otherwise it has ended
   * @returns how many have ended
   */
  async restore(by: KeeperOptions, isMeant: (pin: KeptPin) => boolean): Promise<number> {
    const { store } = this.#deps;
    await store.loaded;
    let ended = 0;
    for (const [key, value] of store.list('pin:')) {
      const pin = value instanceof Pin ? undefined : readPin(key, value, by);
      if (!pin) continue;
      const stays = isMeant(pin.view());
      store.update(key, stays ? pin : undefined);
      if (stays) void this.#add(pin);
      else ended++;
    }
    return ended;
  }

  /** Stops keeping the pins of a keeper, which is not called any more. @param isGone whether they have ended */
  release(id: string, isGone: boolean): void {
    for (const { pins } of [...this.#devices.values()])
      for (const pin of [...pins.values()]) {
        if (pin.by.id !== id) continue;
        this.#remove(pin);
        this.#deps.store.update(keyOf(pin), isGone ? undefined : pin.toJSON());
      }
  }

  /** A device has been told to reset, or may have been. */
  rebooted(chipid: string): void {
    const device = this.#devices.get(chipid);
    if (!device) return;
    device.booted = this.#deps.timers.now() + BOOT;
    this.#doubt(device);
    this.#schedule(device);
  }

  close(): void {
    this.#isClosed = true;
    for (const device of this.#devices.values()) this.#quiet(device);
    this.#leaveList?.();
  }

  /** Begins to keep a pin: its device is looked at at once, unless the list says that it is away. Never rejects. */
  async #add(pin: Pin): Promise<void> {
    const { list, timers, clock } = this.#deps;
    const { chipid } = pin;
    const look = (due: Device): void =>
      void (due.hasNew ? this.#wishes : this.#looks).run(() => this.#look(due));
    const device = this.#devices.get(chipid) ?? new Device(chipid, look);
    device.pins.set(pin.pin, pin);
    this.#devices.set(chipid, device);
    this.#leaveList ??= list.poll(REFRESH, {
      onReading: (reading) => {
        for (const each of [...this.#devices.values()]) this.#apply(reading, each);
      },
    });
    device.held++;
    const reading = await list.read(FRESH).catch(() => undefined);
    device.held--;
    // After a deploy, the last look may be a moment ago.
    const ago = Math.max(0, (clock.time() ?? Infinity) - (pin.looked ?? -Infinity));
    device.lookedAt = Math.max(device.lookedAt, timers.now() - ago);
    // Whether its power was lost since then is unknown.
    device.isDue ||= !pin.isNew;
    if (reading) this.#apply(reading, device);
    this.#schedule(device);
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

  #schedule(device: Device): void {
    const { timers } = this.#deps;
    const at = device.nextLook;
    if (this.#isClosed || device.held > 0 || device.subscription || device.pins.size === 0) return;
    if (at <= timers.now()) device.onDue();
    else if (at < Infinity) timers.set(device, at);
    else timers.remove(device);
  }

  #apply({ at, devices, invalid }: ListReading, device: Device): void {
    const { now, timers } = this.#deps;
    // What was heard of the device since the reading began is newer. A clock that was set must not keep it so.
    const age = Math.min(Math.max(0, now() - at), REFRESH);
    if (device.knownAt > timers.now() - age) return;
    if (devices.has(device.chipid)) this.#heard(device);
    // A record without a chip number may be the device's.
    else if (invalid === 0 && !device.subscription) this.#lost(device);
  }

  #heard(device: Device): void {
    device.knownAt = this.#deps.timers.now();
    device.subscription?.release();
    device.subscription = undefined;
    this.#schedule(device);
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
    for (const pin of pins.values()) this.#show(pin, 'pending');
  }

  #show(pin: Pin, state: Pin['state']): void {
    if (state === pin.state) return;
    pin.state = state;
    isolated(() => pin.by.keeper.onState?.(pin.view()));
  }

  /** Never rejects. */
  async #look(device: Device): Promise<void> {
    const { timers, store, clock } = this.#deps;
    if (device.held > 0 || device.subscription || timers.now() < device.nextLook) return;
    timers.remove(device);
    device.held++;
    device.isDue = false;
    try {
      const tried = await this.#set(device, ({ isNew }) => isNew);
      await this.#read(device);
      const others = await this.#set(
        device,
        (pin) => pin.isNew || (!pin.isAsWanted && timers.now() - pin.setAt >= GAP),
      );
      if (others.length > 0) await this.#read(device);
      for (const pin of [...tried, ...others])
        if (!pin.isNew && !pin.isAsWanted && this.#isWanted(pin)) this.#show(pin, 'differs');
    } catch {
      this.#lost(device);
    }
    device.held--;
    device.lookedAt = timers.now();
    for (const pin of device.pins.values()) {
      pin.looked = clock.time();
      if (this.#isWanted(pin)) store.update(keyOf(pin), pin);
    }
    this.#schedule(device);
  }

  /** Sets some pins of a device. @returns those that were set: one may have ended before its turn came */
  async #set({ chipid, pins }: Device, isDue: (pin: Pin) => boolean): Promise<Pin[]> {
    const { calls, timers } = this.#deps;
    const set: Pin[] = [];
    for (const pin of [...pins.values()].filter(isDue)) {
      const level = (): 0 | 1 | undefined => {
        if (!this.#isWanted(pin)) return undefined;
        pin.isNew = false;
        pin.setAt = timers.now();
        return pin.wanted;
      };
      const sent = calls.set(chipid, pin.pin, level, pin.by.seconds);
      if (await sent.catch((error: unknown) => this.#tell([pin], error))) set.push(pin);
    }
    return set;
  }

  /** Reads the levels of a device. */
  async #read(device: Device): Promise<void> {
    const { calls } = this.#deps;
    const isWanted = (): boolean => !this.#isClosed && device.pins.size > 0;
    const seconds = Math.max(...[...device.pins.values()].map(({ by }) => by.seconds));
    const result = await calls
      .read(device.chipid, isWanted, seconds)
      .catch((error: unknown) => this.#tell(device.pins.values(), error));
    if (result === undefined || !isWanted()) return;
    this.#heard(device);
    for (const pin of device.pins.values()) {
      pin.found = calls.levels(result, pin.by.codes).get(pin.pin) ?? null;
      if (pin.isNew) continue;
      if (pin.isAsWanted) pin.error = undefined;
      if (pin.isAsWanted || pin.state === 'kept')
        this.#show(pin, pin.isAsWanted ? 'kept' : 'pending');
    }
  }

  /** Reports an error to the keepers, once for a code. @throws that error */
  #tell(pins: Iterable<Pin>, error: unknown): never {
    for (const pin of pins) {
      if (!isDeviceCloudError(error) || isSilence(error) || pin.error?.code === error.code)
        continue;
      pin.error = error;
      isolated(() => pin.by.keeper.onError?.(pin.view(), error));
    }
    throw error;
  }
}
