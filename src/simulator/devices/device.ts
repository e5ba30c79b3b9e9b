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
  inFlight: number;
  maxInFlight: number;
  /** Milliseconds it takes to answer. */
  answerDelay: number;
  /** When it was last heard of, milliseconds since 1970. */
  lastSeen: number;
  readonly bootedAt: number;
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

/** Bytes of a push that is kept: as Base64 or hex its text is longer than what the device got. */
const sizeOf = ({ bytes }: { readonly bytes: Buffer }): number => 2 * bytes.length;

/**
 * Makes a device, switched on. Its upload timer is the service's affair.
 * @param onWake is called each time the device wakes
 */
export function createDevice(
  settings: DeviceSettings,
  common: Settings,
  timers: Timers,
  onWake: (device: Device) => void,
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

  const sleeping = createSleep(
    settings.sleep,
    timers,
    () => departures++,
    () => onWake(device),
  );

  const boot = (): void => {
    comesBack = undefined;
    boots++;
    bootedAt = device.lastSeen = now();
    levels.fill(0);
    sleeping.wake();
  };

  const device: Device = {
    settings,
    chipid,
    sensor,
    name: settings.name,
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
      device.disabled = disabled;
    },
  };
  return device;
}
