import { DEFAULT_KIND } from '../assumptions';
import { DEVICE_KINDS, type DeviceKind } from '../sensors/kinds';
import { integerText, numberIn, oneOf, OptionError } from './option-readers';

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
  /** What it measures: temperature and humidity, power, or whether a door is open. Default `climate`. */
  kind?: DeviceKind;
  /** Default 1. */
  vertype?: number;
  /** May contain NUL. Default: made of the chip number. */
  devkey?: string;
  /** Seconds between two uploads, 0 for none. Default: the simulator's. */
  interval?: number;
  /** Milliseconds the device takes to answer. Default: the simulator's. */
  answerDelay?: number;
  /** Milliseconds that its clock is ahead of the service's; below 0 behind. Default 0. */
  clockOffset?: number;
  /** Further callbacks: a value of any shape by key. */
  callbacks?: Readonly<Record<string, unknown>>;
  /**
   * Lets it sleep and wake by itself. It uploads as soon as it wakes; asleep it is not in the list,
   * uploads nothing and answers nothing. Default: always awake.
   */
  sleep?: SleepOptions;
}

/** A device's options, complete but for what the simulator's own settings give. */
export interface DeviceSettings {
  readonly chipid: string;
  readonly name: string | number | null;
  readonly kind: DeviceKind;
  readonly vertype: number;
  readonly devkey: string;
  readonly interval: number | undefined;
  readonly answerDelay: number | undefined;
  readonly clockOffset: number;
  readonly callbacks: ReadonlyMap<string, unknown>;
  readonly sleep: Readonly<SleepOptions> | undefined;
}

const FIRST_CHIPID = 10_000_001;
/** The third has none, as a device of the service may (section 2.1). */
const NAMES = ['Greenhouse', 'Cold store', null] as const;

/**
 * Checks the options of the devices to start with.
 * @throws OptionError, also if two have the same chip number
 */
export function readDevices(options: readonly DeviceOptions[]): DeviceSettings[] {
  const devices = options.map(readDevice);
  const chipids = new Set<string>();
  for (const { chipid } of devices) {
    if (chipids.has(chipid)) throw twice(chipid);
    chipids.add(chipid);
  }
  return devices;
}

/** The error for a chip number that is already in use. */
export const twice = (chipid: string): OptionError =>
  new OptionError('chipid of a device', `${chipid} is there twice`);

/** The options of the first devices, chip numbers from 10000001. */
export const defaultDevices = (count: number): DeviceOptions[] =>
  Array.from({ length: count }, (_, index) => ({
    chipid: FIRST_CHIPID + index,
    name: NAMES[index] === undefined ? `Device ${index + 1}` : NAMES[index],
  }));

const MAX_SECONDS = 2 ** 31 / 1000 - 1;
const MIN_AWAKE = 0.05;

const seconds = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : numberIn('interval of a device', value, 0, MAX_SECONDS);

function sleepOf(value: SleepOptions | undefined): SleepOptions | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || (value as unknown) === null) {
    throw new OptionError('sleep of a device', 'must be an object with awake and every');
  }
  const awake = numberIn('sleep.awake of a device', value.awake, MIN_AWAKE, MAX_SECONDS);
  const every = numberIn('sleep.every of a device', value.every, MIN_AWAKE, MAX_SECONDS);
  if (every > awake) return { awake, every };
  const problem = `must be more than sleep.awake, ${awake}, but is ${every}`;
  throw new OptionError('sleep.every of a device', problem);
}

const ms = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : numberIn('answerDelay of a device', value, 0, 2 ** 31 - 1);

/**
 * Checks the options of one device and fills in the defaults.
 * @throws OptionError
 */
export function readDevice(options: DeviceOptions): DeviceSettings {
  const chipid = integerText('chipid of a device', options.chipid);
  return {
    chipid,
    name: options.name ?? null,
    kind: oneOf('kind of a device', options.kind ?? DEFAULT_KIND, DEVICE_KINDS),
    vertype: options.vertype ?? 1,
    // Section 2.1: a NUL with further text behind it, for clients to cope with.
    devkey: options.devkey ?? `key-${chipid}\u0000simulated`,
    interval: seconds(options.interval),
    answerDelay: ms(options.answerDelay),
    clockOffset: numberIn('clockOffset of a device', options.clockOffset ?? 0, -1e13, 1e13),
    callbacks: new Map(Object.entries(options.callbacks ?? {})),
    sleep: sleepOf(options.sleep),
  };
}
