import type { PushFormat } from '../types';
import { CALLBACK_KEYS, isOnline, LEVEL_CHARACTERS, PINS } from './assumptions';
import type { DeviceSettings } from './device-options';
import type { PushEntry, UploadEntry } from './history';
import { Bounded } from './log';
import type { Settings } from './options';
import { createSensor, seededRandom, uploadOf, type Reading, type Sensor } from './sensors';
import type { Timers } from './timers';

/** The pin of the relay: while it is high, the cooling of a climate device and the heater of a meter are on. */
export const RELAY_PIN = 5;

/** A push that has reached a device. */
export interface Received {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The way of the push: endpoint 3, endpoint 4, the server API, or a channel. */
  readonly via: 'open-api' | 'app-push' | 'server-api' | 'channel';
  /** As it was given; `B64` over a channel. */
  readonly format: PushFormat;
  /** What the device got: hexadecimal and Base64 decoded. */
  readonly bytes: Buffer;
  /** The bytes as UTF-8. */
  readonly text: string;
}

/** A pin that a call has set. */
export interface PinSet {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Number of the pin. */
  readonly pin: number;
  /** 1 is high. */
  readonly level: 0 | 1;
}

/** A device, as the program that runs the simulator sees it. */
export type SimulatedDevice = Readonly<
  Pick<
    Device,
    | ('chipid' | 'name' | 'online' | 'asleep' | 'disabled' | 'levels' | 'boots')
    | ('reading' | 'temperature' | 'humidity' | 'received' | 'uploads' | 'pushes' | 'sets')
    | ('inFlight' | 'maxInFlight')
  >
>;

/** The callbacks that every device has. @param interval seconds between two uploads */
const CALLBACKS: Readonly<
  Record<(typeof CALLBACK_KEYS)[number], (device: Device, now: number, interval: number) => unknown>
> = {
  uptime: ({ bootedAt }, now) => Math.max(0, Math.floor((now - bootedAt) / 1000)),
  rssi: ({ chipid }) => -40 - (Number(chipid.slice(-2)) % 40),
  config: (_device, _now, interval) => ({ interval, relayPin: RELAY_PIN, firmware: '1.0.0' }),
};

/** Bytes of a push that is kept: as Base64 or hex its text is longer than what the device got. */
const sizeOf = ({ bytes }: { readonly bytes: Buffer }): number => 2 * bytes.length;

/** A device, as the simulator itself uses it. It begins switched on; its uploads are the service's affair. */
export class Device {
  /** Chip number, as digits. */
  readonly chipid: string;
  /** The name that it was given, if any. */
  name: string | number | null;
  /** A note of interface A. */
  note = '';
  /** Whether the server API has disabled it. */
  disabled = false;
  asleep = false;
  /** How often it has been reset: by a reboot or by being switched on again. */
  boots = 0;
  /** Device calls it is answering now, and how many it ever was answering at once. */
  inFlight = 0;
  maxInFlight = 0;
  /** Milliseconds it takes to answer. */
  answerDelay: number;
  /** Seconds between two of its uploads. */
  readonly interval: number;
  /** When it was added, milliseconds since 1970; likewise the others. */
  readonly createdAt: number;
  /** When it was last heard of. */
  lastSeen: number;
  bootedAt: number;
  /** When it last connected: with a boot, or on waking. */
  connectedAt: number;
  /** Counts its departures: an answer under way when it goes away is lost. */
  departures = 0;
  readonly sensor: Sensor;
  readonly uploadHistory: Bounded<UploadEntry>;
  /** What the service keeps of its uploads, oldest first. */
  readonly uploads: readonly UploadEntry[];
  readonly pushHistory: Bounded<PushEntry>;
  /** What the service keeps of the pushes to it, oldest first. */
  readonly pushes: readonly PushEntry[];
  readonly #received: Bounded<Received>;
  /** Pushes that have reached the device, oldest first. */
  readonly received: readonly Received[];
  readonly #sets: Bounded<PinSet>;
  /** The pins that calls have set, oldest first. */
  readonly sets: readonly PinSet[];
  readonly #levels = new Array<0 | 1>(PINS).fill(0);
  readonly #common: Pick<Settings, 'now' | 'rebootTime'>;
  readonly #timers: Timers;
  readonly #onWake: (device: Device) => void;
  #isOn = true;
  /** Cancels the boot that ends a reboot. */
  #cancelBoot: (() => void) | undefined;
  /** Cancels what the timetable of sleep has next. */
  #cancelNext: () => void = () => undefined;

  /**
   * @param id of interface A, where that is not the chip number
   * @param onWake is called each time the device wakes
   */
  constructor(
    readonly settings: DeviceSettings,
    readonly id: number,
    common: Pick<
      Settings,
      'now' | 'seed' | 'historyLimit' | 'interval' | 'answerDelay' | 'rebootTime'
    >,
    timers: Timers,
    onWake: (device: Device) => void,
  ) {
    const { chipid, name, kind, answerDelay = common.answerDelay } = settings;
    const { now, historyLimit } = common;
    this.chipid = chipid;
    this.name = name;
    this.answerDelay = answerDelay;
    this.interval = settings.interval ?? common.interval;
    this.sensor = createSensor(kind, seededRandom(`${common.seed}/${chipid}`));
    // Pushes come from outside, unlike uploads, so their bytes are limited as well.
    this.#received = new Bounded<Received>(historyLimit, sizeOf);
    this.#sets = new Bounded<PinSet>(historyLimit);
    this.uploadHistory = new Bounded(historyLimit);
    this.pushHistory = new Bounded<PushEntry>(historyLimit, sizeOf);
    this.uploads = this.uploadHistory.items;
    this.pushes = this.pushHistory.items;
    this.received = this.#received.items;
    this.sets = this.#sets.items;
    this.#common = common;
    this.#timers = timers;
    this.#onWake = onWake;
    this.createdAt = this.lastSeen = this.bootedAt = this.connectedAt = now();
    this.#stayAwake();
  }

  /** Whether it is on, awake, not disabled and not away for a reboot. */
  get online(): boolean {
    const { disabled, asleep } = this;
    return isOnline({
      on: this.#isOn,
      rebooting: this.#cancelBoot !== undefined,
      disabled,
      asleep,
    });
  }

  /** The pins' level characters, index = pin. */
  get levels(): string {
    return this.#levels.map((level) => LEVEL_CHARACTERS[level]).join('');
  }

  /** The last reading, by name: what it uploads. */
  get reading(): Reading {
    return this.sensor.reading;
  }

  /** The last reading, °C; NaN if it measures none. */
  get temperature(): number {
    return Number(this.reading['temperature'] ?? NaN);
  }

  /** The last reading, %; NaN if it measures none. */
  get humidity(): number {
    return Number(this.reading['humidity'] ?? NaN);
  }

  /** Its next reading, as it uploads it. */
  measure(): Buffer {
    return uploadOf(this.settings.kind, this.sensor.step(this.#levels[RELAY_PIN] === 1));
  }

  /** The value of the callback registered under a key (section 4.2.8); undefined for an unknown key. */
  callback(key: string): { value: unknown } | undefined {
    const { callbacks } = this.settings;
    if (callbacks.has(key)) return { value: callbacks.get(key) };
    if (Object.hasOwn(this.reading, key)) return { value: this.reading[key] };
    const builtIn = CALLBACK_KEYS.find((name) => name === key);
    return builtIn && { value: CALLBACKS[builtIn](this, this.#common.now(), this.interval) };
  }

  receive(push: Received): void {
    this.#received.add(push);
  }

  /** Sets a pin, as a call does. */
  setLevel(pin: number, level: 0 | 1): void {
    this.#levels[pin] = level;
    this.#sets.add({ at: this.#common.now(), pin, level });
  }

  /** Changes the level of a pin, as somebody at the device does. */
  changeLevel(pin: number, level: 0 | 1): void {
    this.#levels[pin] = level;
  }

  /** Goes away and comes back, reset, after the reboot time. */
  reboot(): void {
    this.#leave();
    this.#cancelBoot = this.#timers.after(this.#common.rebootTime, () => this.#boot());
  }

  switchOff(): void {
    this.#leave();
    this.#isOn = false;
  }

  switchOn(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#boot();
  }

  /** Falls asleep. With a timetable it wakes by itself, without one it sleeps until {@link wake}. */
  sleep(): void {
    const { sleep: timetable } = this.settings;
    if (timetable) this.#next(timetable.every - timetable.awake, () => this.wake());
    if (this.asleep) return;
    this.asleep = true;
    this.departures++;
  }

  /** Wakes and uploads, if it was asleep. With a timetable the time awake starts over. */
  wake(): void {
    this.#stayAwake();
    if (!this.asleep) return;
    this.asleep = false;
    this.#connect();
    if (this.online) this.#onWake(this);
  }

  disable(disabled: boolean): void {
    if (disabled) this.departures++;
    const isBack = this.disabled && !disabled;
    this.disabled = disabled;
    if (isBack) this.#connect();
  }

  #leave(): void {
    this.departures++;
    this.#cancelBoot?.();
    this.#cancelBoot = undefined;
  }

  #boot(): void {
    this.#cancelBoot = undefined;
    this.boots++;
    this.bootedAt = this.lastSeen = this.#common.now();
    this.#levels.fill(0);
    if (!this.asleep) this.#connect();
    this.wake();
  }

  #connect(): void {
    if (this.online) this.connectedAt = this.#common.now();
  }

  #stayAwake(): void {
    const { sleep: timetable } = this.settings;
    if (timetable) this.#next(timetable.awake, () => this.sleep());
  }

  #next(seconds: number, run: () => void): void {
    this.#cancelNext();
    this.#cancelNext = this.#timers.after(seconds * 1000, run);
  }
}
