import type { DeviceOptions, DeviceSettings } from './device';
import { documentDialect, type Dialect } from './document';
import type { HistoryEncoding } from './history';
import { publicDialect } from './public-2016';
import { SENSORS } from './sensors';

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

const DIALECTS = { document: documentDialect, 'public-2016': publicDialect } as const;

/** How the simulator answers: as the service's document says, or as the public server of 2016 did. */
export type DialectName = keyof typeof DIALECTS;

/** The options of {@link startSimulator}. Each has a default. */
export interface SimulatorOptions {
  /** How the service answers, which decides the defaults of other options, too. Default `document`. */
  dialect?: DialectName;
  /** Whether a newer channel of a device closes the older one. Default false. */
  replace?: boolean;
  /** Default 0: any free port. */
  port?: number;
  /** Their number (chip numbers from 10000001), or the devices themselves. Default 3. */
  devices?: number | readonly DeviceOptions[];
  /** Default `10001`. */
  appid?: string | number;
  /** Default `Simulator-AppKey`; on `public-2016` one of 32 lowercase hexadecimal digits. */
  appkey?: string;
  /** Default `Simulator`. */
  appName?: string;
  /** Default `Simulator-Key`. */
  serverKey?: string;
  /** Default `Simulator-Password`. */
  serverPassword?: string;
  /** Seconds between two uploads of a device, 0 for none. Default 5. */
  interval?: number;
  /** Milliseconds a device takes to answer. Default 20. */
  answerDelay?: number;
  /**
   * Milliseconds after which a device that does not answer counts as offline. Default 10 000; on
   * `public-2016` 50 000 for a push, 8000 for a refresh and 5000 for other calls.
   */
  offlineAfter?: number;
  /** Milliseconds a device is away when it reboots. Default 1000. */
  rebootTime?: number;
  /** How histories write a `body`. Default `text`; on `public-2016` `tagged`. */
  historyEncoding?: HistoryEncoding;
  /** Seconds that a timestamp of interfaces B and C may be off. Default Infinity; on `public-2016` 3600. */
  timestampWindow?: number;
  /** The service's clock, as Date.now. Timers do not follow it. */
  now?: () => number;
}

/** The options, complete. */
export type Settings = Readonly<
  Required<Omit<SimulatorOptions, 'dialect' | 'devices' | 'appid' | 'offlineAfter'>>
> & {
  readonly dialect: Dialect;
  readonly waits: Dialect['waits'];
  readonly appid: string;
  readonly devices: readonly DeviceSettings[];
};

export const LOOPBACK = '127.0.0.1';

/** Not secrets: fixed, public, and the simulator's only. A dialect may have another key. */
export const DEFAULT_CREDENTIALS = {
  appid: '10001',
  appkey: documentDialect.appkey,
  serverKey: 'Simulator-Key',
  serverPassword: 'Simulator-Password',
} as const;

/** What a value must be, in words, and the value as it is used, undefined if it is invalid. */
type Rule = readonly [must: string, read: (value: unknown) => unknown];

const number = (min: number, max: number, isWhole = false): Rule => [
  `a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`,
  (value) => {
    const read = Number(value);
    return read >= min && read <= max && (!isWhole || Number.isInteger(read)) ? read : undefined;
  },
];

const oneOf = (values: readonly string[]): Rule => [
  `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`,
  (value) => values.find((each) => each === value),
];

const digits: Rule = [
  'an integer of 1 to 20 digits (beyond the safe integers as a string)',
  (value) => {
    const isExact = typeof value === 'string' || Number.isSafeInteger(value);
    return isExact && /^(?:0|[1-9][0-9]{0,19})$/.test(String(value)) ? String(value) : undefined;
  },
];

/** Of the simulator's options and those of a device. */
const RULES = new Map<string, Rule>([
  ['dialect', oneOf(Object.keys(DIALECTS))],
  ['port', number(0, 65535, true)],
  ['devices', number(0, 10_000, true)],
  ['appid', digits],
  // A timer takes at most 2^31 ms.
  ['interval', number(0, 2_000_000)],
  ['chipid', digits],
  ['kind', oneOf(Object.keys(SENSORS))],
]);

/** The options that are given. @throws OptionError if one of them is invalid */
function checked<T extends object>(options: T, of = ''): Partial<T> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const read = given.map(([name, value]) => {
    const [must, readValue] = RULES.get(name) ?? ['', (each: unknown) => each];
    const found = readValue(value);
    if (found !== undefined) return [name, found] as const;
    throw new OptionError(name + of, `must be ${must}, but is ${JSON.stringify(value)}`);
  });
  return Object.fromEntries(read) as Partial<T>;
}

const FIRST_CHIPID = 10_000_001;
/** The third has none, as a device of the service may (section 2.1). */
const NAMES = ['Greenhouse', 'Cold store', null] as const;

/** The options of the first devices, chip numbers from 10000001. */
function firstDevices(devices: number): DeviceOptions[] {
  const { devices: length = 0 } = checked({ devices });
  return Array.from({ length }, (_, index) => ({
    chipid: FIRST_CHIPID + index,
    name: NAMES[index] === undefined ? `Device ${index + 1}` : NAMES[index],
  }));
}

/** Checks the options of one device and fills in the defaults. @throws OptionError */
export function readDevice(options: DeviceOptions): DeviceSettings {
  const given = checked(options, ' of a device');
  const chipid = String(options.chipid);
  // Section 2.1: a NUL with further text behind it, for clients to cope with.
  const devkey = `key-${chipid}\u0000simulated`;
  const defaults = { name: null, kind: 'climate', devkey, callbacks: {} } as const;
  return { ...defaults, sleep: undefined, ...given, chipid };
}

/** Checks options and fills in the defaults. @throws OptionError */
export function readOptions(options: SimulatorOptions): Settings {
  const { devices = 3, ...others } = options;
  const { dialect: name = 'document', offlineAfter, ...given } = checked(others);
  const dialect: Dialect = DIALECTS[name];
  const all = {
    ...DEFAULT_CREDENTIALS,
    appkey: dialect.appkey,
    appName: 'Simulator',
    replace: false,
    port: 0,
    interval: 5,
    answerDelay: 20,
    rebootTime: 1000,
    historyEncoding: dialect.historyEncoding,
    timestampWindow: dialect.timestampWindow,
    now: Date.now,
    ...given,
  };
  return {
    ...all,
    dialect,
    appid: String(all.appid),
    devices: (typeof devices === 'object' ? devices : firstDevices(devices)).map(readDevice),
    waits:
      offlineAfter === undefined
        ? dialect.waits
        : { push: offlineAfter, call: offlineAfter, refresh: offlineAfter },
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
