import type { PushFormat } from '../types';
import { readObject } from './encoding';
import { keep, type PushEntry, type UploadEntry } from './history';
import {
  seededRandom,
  SENSORS,
  uploadOf,
  type DeviceKind,
  type Reading,
  type Sensor,
} from './sensors';

/** The pin of the relay: while it is high, the cooling of a climate device and the heater of a meter are on. */
export const RELAY_PIN = 5;

/** Assumed: the number of pins, which are all low after a reset (4.2.9). */
export const PINS = 16;

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
  /** The bytes as text. */
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
    | ('chipid' | 'name' | 'online' | 'asleep' | 'disabled' | 'levels' | 'boots' | 'reading')
    | ('received' | 'uploads' | 'sets' | 'inFlight' | 'maxInFlight')
  >
>;

/** The longest time for which a push can order a device to be away, in seconds. */
const MAX_AWAY = 86_400;

const isTimeAway = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value <= MAX_AWAY;

/** When a device sleeps by itself. It begins awake. With short times it flaps. */
export interface SleepOptions {
  /** Seconds it is awake each time, at least 0.05. */
  awake: number;
  /** Seconds from one waking to the next, more than `awake`. */
  every: number;
}

/** One device of the simulator. */
export interface DeviceOptions {
  /** Chip number, at most 20 digits; beyond the safe integers as a string. */
  chipid: string | number;
  /** Default null. */
  name?: string | number | null;
  /** What it measures: temperature and humidity (as JSON, or a probe as bytes), power, or whether a door is open. Default `climate`. */
  kind?: DeviceKind;
  /** May contain NUL. Default: made of the chip number. */
  devkey?: string;
  /** Further callbacks: a value of any shape by key. */
  callbacks?: Readonly<Record<string, unknown>>;
  /** Lets it sleep and wake by itself. It uploads as soon as it wakes. Default: always awake. */
  sleep?: SleepOptions;
}

/** A device's options, complete. */
export type DeviceSettings = Readonly<Required<Omit<DeviceOptions, 'chipid' | 'sleep'>>> & {
  readonly chipid: string;
  readonly sleep: Readonly<SleepOptions> | undefined;
};

/** What a device needs of its application. */
interface Surroundings {
  readonly settings: {
    readonly interval: number;
    readonly answerDelay: number;
    readonly rebootTime: number;
    readonly now: () => number;
  };
  readonly timers: {
    after(ms: number, run: () => void): () => void;
    every(ms: number, first: number, run: () => void): void;
  };
  uploadReading(device: Device): void;
}

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
  /** Whether it sleeps. */
  asleep = false;
  /** How often it has been reset: by a reboot or by being switched on again. */
  boots = 0;
  /** How many device calls it is answering now. */
  inFlight = 0;
  /** How many it ever was answering at once. */
  maxInFlight = 0;
  /** Milliseconds it takes to answer. */
  answerDelay: number;
  /** When it was added, milliseconds since 1970; likewise the others. */
  readonly createdAt: number;
  /** When it was last heard of. */
  lastSeen: number;
  bootedAt: number;
  /** When it last connected: with a boot, or on waking. */
  connectedAt: number;
  /** Counts its departures: an answer under way when it goes away is lost. */
  departures = 0;
  /** The last reading, by name: what it uploads. */
  reading: Reading;
  /** What the service keeps of its uploads, oldest first. */
  readonly uploads: UploadEntry[] = [];
  /** What the service keeps of the pushes to it, oldest first. */
  readonly pushes: PushEntry[] = [];
  /** Pushes that have reached the device, oldest first. */
  readonly received: Received[] = [];
  /** The pins that calls have set, oldest first. */
  readonly sets: PinSet[] = [];
  #sensor: Sensor;
  readonly #levels = new Array<0 | 1>(PINS).fill(0);
  readonly #service: Surroundings;
  #isOn = true;
  /** Cancels the boot that ends a reboot or a loss of power. */
  #cancelBoot: () => void = () => undefined;

  /** @param id of interface A, where that is not the chip number */
  constructor(
    readonly settings: DeviceSettings,
    readonly id: number,
    service: Surroundings,
  ) {
    const { chipid, name, kind } = settings;
    this.chipid = chipid;
    this.name = name;
    this.answerDelay = service.settings.answerDelay;
    this.#sensor = SENSORS[kind](seededRandom(`1/${chipid}`));
    this.reading = this.#sensor.next(false).value;
    this.#service = service;
    this.createdAt = this.lastSeen = this.bootedAt = this.connectedAt = this.#now();
    const { sleep } = settings;
    if (sleep) service.timers.every(sleep.every * 1000, sleep.every * 1000, () => this.wake());
    this.wake();
  }

  /**
   * Whether it is in the list of online devices (4.2.2). Assumed: a device that sleeps, is off, disabled or away for a
   * reboot leaves it at once and is back as soon as it is there again; nothing is kept for it meanwhile.
   */
  get online(): boolean {
    return this.#isOn && !this.disabled && !this.asleep;
  }

  /** The pins' level characters, index = pin. */
  get levels(): string {
    return this.#levels.join('');
  }

  /** Its next reading, as it uploads it. */
  measure(): Buffer {
    this.reading = this.#sensor.next(this.#levels[RELAY_PIN] === 1).value;
    return uploadOf(this.settings.kind, this.reading);
  }

  /** Goes on with the history, the names, the pins and the readings of the same device of an earlier simulator. */
  goOn(before: Device): void {
    const { uploads, pushes, name, note, disabled } = before;
    this.uploads.push(...uploads);
    this.pushes.push(...pushes);
    Object.assign(this, { name, note, disabled });
    this.reading = before.reading;
    this.#sensor = before.#sensor;
    before.#levels.forEach((level, pin) => this.changeLevel(pin, level));
  }

  /** The value of the callback registered under a key (section 4.2.8); undefined for an unknown key. */
  callback(key: string): { value: unknown } | undefined {
    const { interval } = this.#service.settings;
    const values: Record<string, unknown> = {
      uptime: Math.max(0, Math.floor((this.#now() - this.bootedAt) / 1000)),
      rssi: -40 - (Number(this.chipid.slice(-2)) % 40),
      config: { interval, relayPin: RELAY_PIN, firmware: '1.0.0' },
      ...this.reading,
      ...this.settings.callbacks,
    };
    return Object.hasOwn(values, key) ? { value: values[key] } : undefined;
  }

  /**
   * Does what a pushed text says, which is the firmware's own affair (4.2.3, 6). `{"get":"temperature","id":7}` asks for
   * a callback. `{"sleep":10}` lets it sleep for 10 s: it keeps its pins, and uploads as soon as it wakes.
   * `{"unplug":10}` takes its power for 10 s: it boots with its pins low. It ignores any other text.
   * @returns what it uploads in reply, if it was asked: null as the value if it has no such callback
   */
  obey(text: string): object | undefined {
    const { get, id, sleep, unplug } = readObject(text) ?? {};
    if (typeof get === 'string')
      return { reply: get, value: this.callback(get)?.value ?? null, id };
    if (isTimeAway(sleep)) this.sleep(sleep);
    else if (isTimeAway(unplug)) this.switchOff(unplug);
    return undefined;
  }

  /** Sets a pin, as a call does. */
  setLevel(pin: number, level: 0 | 1): void {
    this.changeLevel(pin, level);
    keep(this.sets, { at: this.#now(), pin, level });
  }

  /** Changes the level of a pin, as somebody at the device does. */
  changeLevel(pin: number, level: 0 | 1): void {
    this.#levels[pin] = level;
  }

  /** Goes away and comes back, reset, after the reboot time. */
  reboot(): void {
    this.switchOff(this.#service.settings.rebootTime / 1000);
  }

  /** Loses its power, for some seconds if they are given. */
  switchOff(seconds?: number): void {
    this.departures++;
    this.#isOn = false;
    this.#cancelBoot();
    if (seconds === undefined) return;
    this.#cancelBoot = this.#service.timers.after(seconds * 1000, () => this.switchOn());
  }

  /** Boots, if it is off. */
  switchOn(): void {
    this.#cancelBoot();
    if (this.#isOn) return;
    this.#isOn = true;
    this.boots++;
    this.bootedAt = this.lastSeen = this.#now();
    this.#levels.fill(0);
    this.#connect();
    this.wake();
  }

  /** Falls asleep, for some seconds if they are given, otherwise until {@link wake}, which a timetable calls. */
  sleep(seconds?: number): void {
    if (seconds !== undefined) this.#service.timers.after(seconds * 1000, () => this.wake());
    if (this.asleep) return;
    this.asleep = true;
    this.departures++;
  }

  /** Wakes and uploads, if it was asleep. With a timetable it falls asleep again. */
  wake(): void {
    const { sleep } = this.settings;
    if (sleep) this.#service.timers.after(sleep.awake * 1000, () => this.sleep());
    if (!this.asleep) return;
    this.asleep = false;
    this.#connect();
    if (this.online) this.#service.uploadReading(this);
  }

  disable(disabled: boolean): void {
    if (disabled) this.departures++;
    const isBack = this.disabled && !disabled;
    this.disabled = disabled;
    if (isBack) this.#connect();
  }

  #now(): number {
    return this.#service.settings.now();
  }

  #connect(): void {
    if (this.online) this.connectedAt = this.#now();
  }
}
