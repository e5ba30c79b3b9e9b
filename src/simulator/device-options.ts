import { DEFAULT_KIND } from './assumptions';
import { DEVICE_KINDS, type DeviceKind } from './sensors';

/** An invalid option: its name, and the problem. */
export class OptionError extends RangeError {
  /** Identifies the class where `instanceof` cannot. */
  override readonly name = 'OptionError';
  constructor(
    /** The option's name. */
    readonly option: string,
    /** What is wrong, to be read after the name. */
    readonly problem: string,
  ) {
    super(`${option} ${problem}.`);
  }
}

/** A number between two limits, both included. */
export function numberIn(
  option: string,
  value: number,
  min: number,
  max: number,
  kind: 'any' | 'whole' = 'any',
): number {
  const fits = value >= min && value <= max && (kind === 'any' || Number.isInteger(value));
  if (fits) return value;
  const noun = kind === 'whole' ? 'a whole number' : 'a number';
  const bounds = max === Infinity ? `of ${min} or more` : `from ${min} to ${max}`;
  throw new OptionError(option, `must be ${noun} ${bounds}, but is ${String(value)}`);
}

export function textOf(option: string, value: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new OptionError(option, 'must be text that is not empty');
}

/** An integer of at most 20 digits, kept as text, so that no digit is lost. */
export function integerText(option: string, value: string | number): string {
  const text = typeof value === 'number' && !Number.isSafeInteger(value) ? '' : String(value);
  if (/^(?:0|[1-9][0-9]{0,19})$/.test(text)) return text;
  throw new OptionError(
    option,
    `must be an integer of 1 to 20 digits (beyond the safe integers as a string), but is ${String(value)}`,
  );
}

/** @param value which must be one of two or more */
export function oneOf<T extends string | number>(
  option: string,
  value: T,
  values: readonly T[],
): T {
  if (values.includes(value)) return value;
  const others = values.slice(0, -1).join(', ');
  throw new OptionError(
    option,
    `must be ${others} or ${values.at(-1)}, but is ${JSON.stringify(value)}`,
  );
}

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
export type DeviceSettings = Readonly<
  Required<Pick<DeviceOptions, 'name' | 'kind' | 'vertype' | 'devkey' | 'clockOffset'>>
> & {
  readonly chipid: string;
  readonly interval: number | undefined;
  readonly answerDelay: number | undefined;
  readonly callbacks: ReadonlyMap<string, unknown>;
  readonly sleep: Readonly<SleepOptions> | undefined;
};

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

/** Checks the options of one device and fills in the defaults. @throws OptionError */
export function readDevice(options: DeviceOptions): DeviceSettings {
  const chipid = integerText('chipid of a device', options.chipid);
  const { interval, answerDelay } = options;
  if (interval !== undefined) numberIn('interval of a device', interval, 0, MAX_SECONDS);
  if (answerDelay !== undefined) numberIn('answerDelay of a device', answerDelay, 0, 2 ** 31 - 1);
  return {
    chipid,
    name: options.name ?? null,
    kind: oneOf('kind of a device', options.kind ?? DEFAULT_KIND, DEVICE_KINDS),
    vertype: options.vertype ?? 1,
    // Section 2.1: a NUL with further text behind it, for clients to cope with.
    devkey: options.devkey ?? `key-${chipid}\u0000simulated`,
    interval,
    answerDelay,
    clockOffset: numberIn('clockOffset of a device', options.clockOffset ?? 0, -1e13, 1e13),
    callbacks: new Map(Object.entries(options.callbacks ?? {})),
    sleep: sleepOf(options.sleep),
  };
}

/**
 * The devices of the simulator that a config node starts: different kinds; two come and go. A door
 * sensor wakes for a moment and sleeps, and the last one uploads bytes and loses its connection every now and then.
 */
export const BUILT_IN_DEVICES: readonly DeviceOptions[] = [
  { chipid: 10_000_001, name: 'Greenhouse' },
  { chipid: 10_000_002, name: 'Server room' },
  { chipid: 10_000_003, name: 'Workshop' },
  { chipid: 10_000_004, name: 'Power meter', kind: 'power' },
  { chipid: 10_000_005, name: 'Front door', kind: 'door', sleep: { awake: 12, every: 45 } },
  { chipid: 10_000_006, name: 'Garage', kind: 'probe', sleep: { awake: 70, every: 95 } },
];
