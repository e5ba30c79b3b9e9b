import {
  DEVICES_PATH,
  EVENT_TIMESTAMP,
  HISTORY_ENCODING,
  HISTORY_ORDER,
  NO_ANSWER_AFTER,
  PUBLIC_APPKEY,
  PUBLIC_HISTORY_LIMIT,
  SERVER_ZONE,
  STATUS,
  TIMESTAMP_WINDOW,
} from './assumptions';
import {
  defaultDevices,
  integerText,
  numberIn,
  oneOf,
  readDevices,
  textOf,
  type DeviceOptions,
  type DeviceSettings,
} from './device-options';

/** How the simulator answers: as the service's document says, or as the public server of 2016 did. */
const DIALECT_NAMES = ['document', 'public-2016'] as const;
/** The name of a dialect. */
export type DialectName = (typeof DIALECT_NAMES)[number];

const HISTORY_ENCODINGS = ['text', 'base64', 'trimmed', 'tagged'] as const;
/**
 * How histories write a `body`: as text, as Base64, without the white space at its ends, or so and without its
 * commas and what stands before the first one.
 */
export type HistoryEncoding = (typeof HISTORY_ENCODINGS)[number];

const HISTORY_ORDERS = ['oldest-first', 'newest-first', 'newest-made-first'] as const;
/** The order of a history: by arrival, or by the time of the record, to the second. */
export type HistoryOrder = (typeof HISTORY_ORDERS)[number];

/** The calls that wait for a device, by how long. */
export type Wait = 'push' | 'call' | 'refresh';

/** What a dialect decides unless an option does. Rows are rows of docs/use/known-service.md. */
const DIALECT_DEFAULTS = {
  document: {
    // Mixed case shows a sign that lowercases wrongly.
    appkey: 'Simulator-AppKey',
    historyEncoding: HISTORY_ENCODING,
    historyOrder: HISTORY_ORDER,
    historyLimit: 10_000,
    devicesPath: DEVICES_PATH,
    timestampWindow: TIMESTAMP_WINDOW,
    waits: { push: NO_ANSWER_AFTER, call: NO_ANSWER_AFTER, refresh: NO_ANSWER_AFTER },
    zone: SERVER_ZONE,
  },
  'public-2016': {
    appkey: PUBLIC_APPKEY,
    // Row 12.
    historyEncoding: 'tagged',
    // Row 13, and that the zone is UTC.
    historyOrder: 'newest-made-first',
    historyLimit: PUBLIC_HISTORY_LIMIT,
    zone: 0,
    // Row 3.
    devicesPath: 'lists',
    // Row 1.
    timestampWindow: 3600,
    // Row 7.
    waits: { push: 50_000, call: 5000, refresh: 8000 },
  },
} satisfies Readonly<Record<DialectName, Partial<Settings>>>;

/** The options of {@link startSimulator}. Each has a default. */
export interface SimulatorOptions {
  /**
   * How the service answers: as its document says, or as the public server of 2016 did. It decides the
   * defaults of other options, too. Default `document`.
   */
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
  /**
   * How `body` in history records is written: as text, as Base64, without the white space at its ends, or so
   * and without a tag and its commas. Default `text`; on `public-2016` `tagged`.
   */
  historyEncoding?: HistoryEncoding;
  /** How many uploads and pushes are kept per device. Default 10 000; on `public-2016` 1 000 000. */
  historyLimit?: number;
  /** By arrival, or by the time of the record. Default `oldest-first`; on `public-2016` `newest-made-first`. */
  historyOrder?: HistoryOrder;
  /** Which spelling of the device list answers. Default `list`; on `public-2016` `lists`. */
  devicesPath?: 'list' | 'lists' | 'both';
  /** Unit of an event's timestamp. Default `s`. */
  eventTimestamp?: 's' | 'ms';
  /** Seconds that a timestamp of interfaces B and C may be off. Default Infinity; on `public-2016` 3600. */
  timestampWindow?: number;
  /** The status for an unknown appid. Default 401. `public-2016` always answers 400. */
  unknownApp?: 401 | 404;
  /** What the devices measure repeats with the seed. Default 1. */
  seed?: number | string;
  /** The service's clock, as Date.now. Timers do not follow it. */
  now?: () => number;
}

/** The options, complete. */
export type Settings = Readonly<
  Required<Omit<SimulatorOptions, 'devices' | 'appid' | 'seed' | 'offlineAfter'>>
> & {
  readonly appid: string;
  readonly devices: readonly DeviceSettings[];
  readonly seed: string;
  /** Milliseconds that a call waits for a device. */
  readonly waits: Readonly<Record<Wait, number>>;
  /** The zone of the times in histories, milliseconds ahead of UTC. */
  readonly zone: number;
};

export const LOOPBACK = '127.0.0.1';

/** Not secrets: fixed, public, and the simulator's only. A dialect may have another key. */
export const DEFAULT_CREDENTIALS = {
  appid: '10001',
  appkey: DIALECT_DEFAULTS.document.appkey,
  serverKey: 'Simulator-Key',
  serverPassword: 'Simulator-Password',
} as const;

export const DEFAULT_DEVICES = 3;
export const MAX_DEVICES = 10_000;
const MAX_TIMER = 2 ** 31 - 1;

/** What options are that are left out, in every dialect. */
const DEFAULTS = {
  replace: false,
  port: 0,
  devices: DEFAULT_DEVICES,
  appid: DEFAULT_CREDENTIALS.appid,
  appName: 'Simulator',
  serverKey: DEFAULT_CREDENTIALS.serverKey,
  serverPassword: DEFAULT_CREDENTIALS.serverPassword,
  interval: 5,
  answerDelay: 20,
  rebootTime: 1000,
  eventTimestamp: EVENT_TIMESTAMP,
  unknownApp: STATUS.unknownAppid,
  seed: 1,
} as const;

/** Checks options and fills in the defaults. @throws OptionError */
export function readOptions(options: SimulatorOptions): Settings {
  const { offlineAfter } = options;
  const dialect = oneOf('dialect', options.dialect ?? 'document', DIALECT_NAMES);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const all = {
    ...{ now: Date.now, ...DEFAULTS, ...DIALECT_DEFAULTS[dialect] },
    ...(Object.fromEntries(given) as SimulatorOptions),
  };
  const { devices } = all;
  const count = typeof devices === 'number' ? devices : devices.length;
  numberIn('devices', count, 0, MAX_DEVICES, 'whole');
  numberIn('port', all.port, 0, 65535, 'whole');
  numberIn('historyLimit', all.historyLimit, 0, 1e7, 'whole');
  numberIn('interval', all.interval, 0, MAX_TIMER / 1000);
  numberIn('answerDelay', all.answerDelay, 0, MAX_TIMER);
  numberIn('rebootTime', all.rebootTime, 0, MAX_TIMER);
  numberIn('timestampWindow', all.timestampWindow, 0, Infinity);
  if (offlineAfter !== undefined) numberIn('offlineAfter', offlineAfter, 0, MAX_TIMER);
  for (const name of ['appkey', 'serverKey', 'serverPassword'] as const) textOf(name, all[name]);
  oneOf('historyEncoding', all.historyEncoding, HISTORY_ENCODINGS);
  oneOf('historyOrder', all.historyOrder, HISTORY_ORDERS);
  oneOf('devicesPath', all.devicesPath, ['list', 'lists', 'both']);
  oneOf('eventTimestamp', all.eventTimestamp, ['s', 'ms']);
  oneOf('unknownApp', all.unknownApp, [401, 404]);
  return {
    ...all,
    dialect,
    appid: integerText('appid', all.appid),
    devices: readDevices(typeof devices === 'number' ? defaultDevices(devices) : devices),
    seed: String(all.seed),
    waits:
      offlineAfter === undefined
        ? all.waits
        : { push: offlineAfter, call: offlineAfter, refresh: offlineAfter },
  };
}
