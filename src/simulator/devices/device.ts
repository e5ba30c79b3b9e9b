import { isOnline, LEVEL_CHARACTERS, PINS } from '../assumptions';
import { createBounded, type Bounded } from '../util/bounded';
import type { DeviceSettings } from '../options/device-options';
import type { PushEntry, UploadEntry } from './history';
import { createSensor } from '../sensors/kinds';
import type { Settings } from '../options/options';
import { seededRandom } from '../util/random';
import type { Sensor } from '../sensors/sensor';
import type { Received, SimulatedDevice } from './simulated-device';
import { createSleep } from './sleep';
import type { Timers } from '../util/timers';

/** The pin of the relay: while it is high, the cooling of a climate device and the heater of a meter are on. */
export const RELAY_PIN = 5;

/** A device, as the simulator itself uses it. */
export interface Device extends SimulatedDevice {
  readonly settings: DeviceSettings;
  name: string | number | null;
  disabled: boolean;
  /** The id of interface A, where that is not the chip number. */
  readonly id: number;
  /** A note of interface A. */
  note: string;
  /** When it was added, milliseconds since 1970. */
  readonly createdAt: number;
  inFlight: number;
  maxInFlight: number;
  /** Milliseconds it takes to answer. */
  answerDelay: number;
  /** When it was last heard of, milliseconds since 1970. */
  lastSeen: number;
  readonly bootedAt: number;
  /** When it last connected: with a boot, or on waking. */
  readonly connectedAt: number;
  /** The `latest` of a second entry in the list, left over from an earlier connection. */
  staleLatest?: string;
  /** What it has made while it was away. */
  readonly held: HeldUpload[];
  /** Counts its departures: an answer under way when it goes away is lost. */
  readonly departures: number;
  readonly sensor: Sensor;
  /** Whether the relay is switched on. */
  readonly relay: boolean;
  readonly uploadHistory: Bounded<UploadEntry>;
  readonly pushHistory: Bounded<PushEntry>;
  receive(push: Received): void;
  setLevel(pin: number, level: 0 | 1): void;
  /** Goes away and comes back, reset, after the reboot time. */
  reboot(): void;
  switchOff(): void;
  switchOn(): void;
  /** Falls asleep: an answer under way is lost. */
  sleep(): void;
  /** Wakes and uploads, if it was asleep. */
  wake(): void;
  /** Ends its timetable of sleep. */
  stop(): void;
  disable(disabled: boolean): void;
}

/** An upload that a device keeps until it is connected. */
export interface HeldUpload {
  readonly bytes: Buffer;
  /** By its own clock, milliseconds since 1970. */
  readonly made: number;
}

/** What happens to a device. */
export interface DeviceEvents {
  /** Is called each time the device is connected again. */
  onConnect(device: Device): void;
  /** Is called after that each time the device wakes. */
  onWake(device: Device): void;
}

/** Bytes of a push that is kept: as Base64 or hex its text is longer than what the device got. */
const sizeOf = ({ bytes }: { readonly bytes: Buffer }): number => 2 * bytes.length;

/**
 * Makes a device, switched on. Its upload timer is the service's affair.
 * @param id of interface A
 */
export function createDevice(
  settings: DeviceSettings,
  id: number,
  common: Settings,
  timers: Timers,
  events: DeviceEvents,
): Device {
  const { chipid } = settings;
  const { now } = common;
  const sensor = createSensor(settings.kind, seededRandom(`${common.seed}/${chipid}`));
  // Pushes come from outside, unlike uploads, so their bytes are limited as well.
  const received = createBounded<Received>(common.historyLimit, sizeOf);
  const uploadHistory = createBounded<UploadEntry>(common.historyLimit);
  const pushHistory = createBounded<PushEntry>(common.historyLimit, sizeOf);
  const levels = new Array<0 | 1>(PINS).fill(0);
  let on = true;
  let comesBack: (() => void) | undefined;
  let departures = 0;
  let boots = 0;
  let bootedAt = now();
  let connectedAt = bootedAt;

  const sleeping = createSleep(
    settings.sleep,
    timers,
    () => departures++,
    () => {
      connect();
      if (device.online) events.onWake(device);
    },
  );

  const connect = (): void => {
    if (!device.online) return;
    connectedAt = now();
    events.onConnect(device);
  };

  const boot = (): void => {
    comesBack = undefined;
    boots++;
    bootedAt = device.lastSeen = now();
    levels.fill(0);
    const { asleep } = sleeping;
    sleeping.wake();
    if (!asleep) connect();
  };

  const device: Device = {
    settings,
    chipid,
    sensor,
    id,
    name: settings.name,
    note: '',
    createdAt: bootedAt,
    held: [],
    disabled: false,
    inFlight: 0,
    maxInFlight: 0,
    answerDelay: settings.answerDelay ?? common.answerDelay,
    lastSeen: bootedAt,
    uploadHistory,
    pushHistory,
    uploads: uploadHistory.items,
    pushes: pushHistory.items,
    received: received.items,
    get online() {
      const { disabled, asleep } = device;
      return isOnline({ on, rebooting: comesBack !== undefined, disabled, asleep });
    },
    get asleep() {
      return sleeping.asleep;
    },
    get levels() {
      return levels.map((level) => LEVEL_CHARACTERS[level]).join('');
    },
    get relay() {
      return levels[RELAY_PIN] === 1;
    },
    get temperature() {
      return Number(sensor.reading['temperature'] ?? NaN);
    },
    get humidity() {
      return Number(sensor.reading['humidity'] ?? NaN);
    },
    get reading() {
      return sensor.reading;
    },
    get boots() {
      return boots;
    },
    get bootedAt() {
      return bootedAt;
    },
    get connectedAt() {
      return connectedAt;
    },
    get departures() {
      return departures;
    },
    receive: (push) => received.add(push),
    setLevel(pin, level) {
      levels[pin] = level;
    },
    reboot() {
      departures++;
      comesBack?.();
      comesBack = timers.after(common.rebootTime, boot);
    },
    switchOff() {
      departures++;
      comesBack?.();
      comesBack = undefined;
      on = false;
    },
    switchOn() {
      if (on) return;
      on = true;
      boot();
    },
    sleep: () => sleeping.sleep(),
    wake: () => sleeping.wake(),
    stop: () => sleeping.stop(),
    disable(disabled) {
      if (disabled) departures++;
      const isBack = device.disabled && !disabled;
      device.disabled = disabled;
      if (isBack) connect();
    },
  };
  return device;
}
