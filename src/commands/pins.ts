/**
 * A pin keeps its level.
 *
 *     due: set, read back ─► kept ─► was away, rebooted, or not looked at for long ─► read ─► has another level ─► due
 *                             ▲                                                                                 │
 *                             └──────────────── has the level by now ◄────── differs: until the next look ◄─────┘
 *
 * A look sets the pins of a device that have a new level. If no pin has one, it reads all levels and sets the pins whose level is
 * wrong. Then it reads the levels back: a level counts once the device has confirmed it. Each call goes through the device's queue and
 * is decided when its turn comes, so that the newest level is sent, and nothing after the end. Frequent calls may reset a device
 * (section 8): there are at least 30 s between two looks, except that a new level is set at once.
 * The store has the wishes, each before anything is called for it.
 */
import type { OpenApi, OpenApiCommand } from '../protocol/open-api';
import type { ChannelListener, ChannelSubscription } from '../channel/listener';
import type { Timed, TimerQueue } from '../channel/timer-queue';
import { DeviceCloudError, isDeviceCloudError, isSilence } from '../errors';
import type { ListPoller } from '../fleet/list-poller';
import type { FleetRegistry } from '../fleet/registry';
import { levelOf, readLevels, type LevelCodes, type PinOrder } from '../protocol/gpio';
import type { Keeping } from '../store/store';
import type { Answer, KeptPin, KeptState, PinKeeper, ResultAnswer } from '../types';
import { isObject } from '../util/json';
import { Semaphore } from '../util/semaphore';
import { isolated } from '../protocol/values';

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
  readonly timeout: number;
}

/** What keeping pins needs of its application. */
export interface KeepDeps {
  api: Pick<OpenApi, 'setGpioEdge' | 'gpioStatus'>;
  /** Of the pins in an answer. */
  order: PinOrder;
  channels: { join(chipid: string, listener: ChannelListener): ChannelSubscription };
  list: Pick<ListPoller, 'poll' | 'read'>;
  timers: TimerQueue;
  store: Keeping;
  /** It learns of each reading of the list, and of each call, first. */
  registry: Pick<FleetRegistry, 'isOnline'>;
  /**
   * Makes a call of a look when its turn in the device's queue comes.
   * @param make returns undefined if it is not wanted any more by then
   */
  call: (
    chipid: string,
    make: () => OpenApiCommand<ResultAnswer> | undefined,
    timeout: number,
  ) => Promise<Answer<ResultAnswer> | undefined>;
}

/** A pin, and why it could not be set or read. */
export type Kept = KeptPin & { error?: DeviceCloudError };

/** A wish for a pin, and what was found. It is what the store has. */
class Pin {
  /** Whether its level is new: it is set at once, before anything is read. */
  isDue = true;
  /** What was last reported to its keeper. */
  error: DeviceCloudError | undefined;

  /** @param kept is replaced, never changed */
  constructor(
    public kept: KeptPin & { readonly wanted: Edge },
    readonly by: KeeperOptions,
  ) {}

  toJSON(): object {
    const { wanted, found, state } = this.kept;
    return { node: this.by.id, wanted, found, state };
  }
}

const keyOf = ({ chipid, pin }: KeptPin): string => `pin:${chipid}:${pin}`;

/** A device of which pins are kept. Times are on the clock of the timers. */
class Device implements Timed {
  due = 0;
  readonly pins = new Map<number, Pin>();
  /** While it is away, and nothing is called: of its channel. */
  subscription: ChannelSubscription | undefined;
  isBusy = false;
  /** When it is to be looked at, and until when it is not, unless a pin is to be set. */
  lookAt = 0;
  restsUntil = 0;

  constructor(
    readonly chipid: string,
    readonly onDue: () => void,
  ) {}

  get isDue(): boolean {
    return [...this.pins.values()].some((pin) => pin.isDue);
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
    // The newest one, which may be being written.
    const known = store.get(`pin:${chipid}:${pin}`);
    const before = known instanceof Pin ? known : undefined;
    const found = before?.kept.found ?? null;
    const ended: KeptPin = { chipid, pin, wanted: null, found, state: 'ended' };
    if (before && before.by.id !== by.id) isolated(() => before.by.keeper.onState?.(ended));
    else if (before?.kept.wanted === level) {
      if (this.#devices.get(chipid)?.pins.get(pin) !== before)
        await store.set(keyOf(before.kept), before);
      return before.kept;
    }
    if (level === null) {
      if (before) this.#remove(before);
      await store.set(keyOf(ended), undefined);
      return ended;
    }
    if (!before && store.count('pin') >= MAX_KEPT)
      throw new DeviceCloudError(
        'QUEUE_FULL',
        `${MAX_KEPT} pins are kept already. Pin ${pin} of device ${chipid} is not. End others with null.`,
      );
    const wish = new Pin({ chipid, pin, wanted: level, found, state: 'pending' }, by);
    await store.set(keyOf(wish.kept), wish);
    if (this.#isWanted(wish)) void this.#add(wish);
    return wish.kept;
  }

  /** Those of a device, or of a keeper, or all, with the errors that were reported. */
  list({ chipid, id }: { chipid?: string; id?: string } = {}): Kept[] {
    const devices =
      chipid === undefined ? [...this.#devices.values()] : [this.#devices.get(chipid)];
    return devices
      .flatMap((device) => [...(device?.pins.values() ?? [])])
      .filter(({ by }) => id === undefined || by.id === id)
      .map(({ kept, error }) => ({ ...kept, ...(error && { error }) }));
  }

  /** Goes on with the pins of a keeper that the store has. What they have by now is read within 30 s. */
  async restore(by: KeeperOptions): Promise<void> {
    const { store, timers } = this.#deps;
    await store.loaded;
    for (const [key, value] of store.list('pin:')) {
      if (value instanceof Pin || !isObject(value) || value['node'] !== by.id) continue;
      const [, chipid, number] = /^pin:(\d{1,20}):(\d{1,9})$/.exec(key) ?? [];
      const { wanted, found = null, state } = value;
      if (!chipid || (wanted !== 0 && wanted !== 1)) continue;
      const known = state === 'kept' || state === 'differs' ? state : 'pending';
      const pin = new Pin({ chipid, pin: Number(number), wanted, found, state: known }, by);
      pin.isDue = false;
      store.update(key, pin);
      void this.#add(pin, known === 'pending' ? undefined : timers.now() + GAP);
    }
  }

  /** Stops keeping the pins of a keeper, which is not called any more. @param isGone whether they have ended */
  release(id: string, isGone: boolean): void {
    const { store } = this.#deps;
    for (const [key, pin] of store.list('pin:'))
      if (pin instanceof Pin && pin.by.id === id) {
        this.#remove(pin);
        store.update(key, isGone ? undefined : pin.toJSON());
      }
  }

  /** Devices are another process's from now on. */
  letGo(isOf: (chipid: string) => boolean): void {
    for (const { chipid, pins } of [...this.#devices.values()])
      if (isOf(chipid)) for (const pin of [...pins.values()]) this.#remove(pin);
  }

  /** A device has been told to reset, or may have been. */
  rebooted(chipid: string): void {
    const device = this.#devices.get(chipid);
    if (!device) return;
    device.lookAt = this.#deps.timers.now() + BOOT;
    this.#doubt(device);
    this.#plan(device);
  }

  close(): void {
    this.#isClosed = true;
    for (const device of this.#devices.values()) this.#quiet(device);
    this.#leaveList?.();
  }

  /** Begins to keep a pin. Its device is looked at once, unless the list says that it is away. Never rejects. */
  async #add(pin: Pin, restsUntil = 0): Promise<void> {
    const { list } = this.#deps;
    const { chipid } = pin.kept;
    const device = this.#devices.get(chipid) ?? new Device(chipid, () => this.#plan(device));
    device.pins.set(pin.kept.pin, pin);
    device.lookAt = 0;
    device.restsUntil = Math.max(device.restsUntil, restsUntil);
    this.#devices.set(chipid, device);
    this.#leaveList ??= list.poll(REFRESH, {
      onReading: () => {
        for (const each of this.#devices.values()) this.#show(each);
      },
    });
    const reading = await list.read(FRESH).catch(() => undefined);
    if (reading) this.#show(device);
    this.#plan(device);
  }

  #isWanted(pin: Pin): boolean {
    return !this.#isClosed && this.#deps.store.get(keyOf(pin.kept)) === pin;
  }

  #remove({ kept: { chipid, pin } }: Pin): void {
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

  /** When a device is to be looked at next: now if a pin is to be set; Infinity while that is unknown. */
  #nextLook({ isBusy, subscription, pins, isDue, lookAt, restsUntil }: Device): number {
    if (this.#isClosed || isBusy || subscription || pins.size === 0) return Infinity;
    return isDue ? 0 : Math.max(lookAt, restsUntil);
  }

  /** Has a device looked at when it is time. Many may be due after a start: wishes do not wait for these. */
  #plan(device: Device): void {
    const { timers } = this.#deps;
    const at = this.#nextLook(device);
    const limiter = device.isDue ? this.#wishes : this.#looks;
    if (at <= timers.now()) void limiter.run(() => this.#look(device));
    else if (at < Infinity) timers.set(device, at);
    else timers.remove(device);
  }

  /** The list has been read. */
  #show(device: Device): void {
    if (device.isBusy) return;
    if (this.#deps.registry.isOnline(device.chipid)) this.#heard(device);
    else this.#lost(device);
  }

  #heard(device: Device): void {
    if (!device.subscription) return;
    this.#quiet(device);
    device.lookAt = 0;
    this.#plan(device);
  }

  /** Nothing is called until the device shows itself. */
  #lost(device: Device): void {
    if (this.#isClosed || device.pins.size === 0) return;
    const onUpload = (): void => this.#heard(device);
    device.subscription ??= this.#deps.channels.join(device.chipid, { onUpload });
    this.#doubt(device);
  }

  #doubt({ pins }: Device): void {
    for (const pin of pins.values()) this.#note(pin, pin.kept.found, 'pending');
  }

  /** Notes what is known of a pin, and reports its state if that is another one. */
  #note(pin: Pin, found: unknown, state: KeptState): void {
    const { kept: before, by } = pin;
    if (!this.#isWanted(pin) || (found === before.found && state === before.state)) return;
    pin.kept = { ...before, found, state };
    this.#deps.store.update(keyOf(before), pin);
    if (state !== before.state) isolated(() => by.keeper.onState?.(pin.kept));
  }

  /** Never rejects. */
  async #look(device: Device): Promise<void> {
    const { timers } = this.#deps;
    const { pins } = device;
    // It may have been looked at, or lost, while this waited.
    if (this.#nextLook(device) > timers.now()) return;
    device.isBusy = true;
    device.lookAt = Infinity;
    try {
      const due = [...pins.values()].filter(({ isDue }) => isDue);
      const all = due.length > 0 ? due : await this.#read(device, []);
      const set: Pin[] = [];
      for (const pin of all) if (await this.#set(pin)) set.push(pin);
      if (all.length > 0) await this.#read(device, set);
    } catch (error) {
      for (const pin of pins.values()) this.#tell(pin, error);
      this.#lost(device);
    }
    const checks = [...pins.values()].map(({ kept, by }) =>
      kept.state === 'pending' ? GAP : by.check || Infinity,
    );
    const now = timers.now();
    device.isBusy = false;
    device.restsUntil = now + GAP;
    // What was read before a reboot says nothing.
    device.lookAt = Math.min(device.lookAt, now + Math.min(...checks));
    this.#plan(device);
  }

  /** @returns whether it was set: the wish may have ended before its turn, and what the service refuses for one pin it may do for others */
  async #set(pin: Pin): Promise<boolean> {
    const { api, call } = this.#deps;
    const { kept, by } = pin;
    pin.isDue = false;
    const make = (): OpenApiCommand<ResultAnswer> | undefined =>
      this.#isWanted(pin) ? api.setGpioEdge(kept.chipid, kept.pin, kept.wanted) : undefined;
    try {
      return (await call(kept.chipid, make, by.timeout)) !== undefined;
    } catch (error) {
      if (isSilence(error)) throw error;
      this.#tell(pin, error);
      return false;
    }
  }

  /**
   * Reads the levels of a device.
   * @param set the pins that were set just now
   * @returns those that differ besides them
   */
  async #read({ chipid, pins }: Device, set: readonly Pin[]): Promise<Pin[]> {
    const { api, call, order } = this.#deps;
    const make = (): OpenApiCommand<ResultAnswer> | undefined =>
      this.#isClosed || pins.size === 0 ? undefined : api.gpioStatus(chipid);
    const timeout = Math.max(...[...pins.values()].map(({ by }) => by.timeout));
    const answer = await call(chipid, make, timeout);
    const others: Pin[] = [];
    if (!answer) return others;
    // One whose level is new by now is set next.
    for (const pin of [...pins.values()].filter(({ isDue }) => !isDue)) {
      const { kept, by } = pin;
      const found = readLevels(answer.body.result, order, by.codes).get(kept.pin) ?? null;
      if (levelOf(found) === kept.wanted) {
        pin.error = undefined;
        this.#note(pin, found, 'kept');
      } else if (set.includes(pin)) this.#note(pin, found, 'differs');
      else {
        others.push(pin);
        this.#note(pin, found, kept.state === 'kept' ? 'pending' : kept.state);
      }
    }
    return others;
  }

  /** Reports an error to a keeper, once for a code. A device that is silent is no error. */
  #tell(pin: Pin, error: unknown): void {
    if (!isDeviceCloudError(error) || isSilence(error) || pin.error?.code === error.code) return;
    pin.error = error;
    isolated(() => pin.by.keeper.onError?.(pin.kept, error));
  }
}
