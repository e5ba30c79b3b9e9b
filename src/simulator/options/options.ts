import { ANSWERS_PINGS, EVENT_TIMESTAMP, STATUS } from '../assumptions';
import {
  DIALECT_DEFAULTS,
  DIALECT_NAMES,
  HISTORY_ENCODINGS,
  HISTORY_ORDERS,
  type DialectName,
  type HistoryEncoding,
  type HistoryOrder,
  type Wait,
} from './dialect-defaults';
import {
  defaultDevices,
  readDevices,
  type DeviceOptions,
  type DeviceSettings,
} from './device-options';
import { integerText, numberIn, oneOf, OptionError, textOf } from './option-readers';

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
  /** The simulator listens on loopback and nowhere else. */
  host?: '127.0.0.1';
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
  /** Whether channels answer WebSocket pings. Default true. */
  pongs?: boolean;
  /** What the devices measure repeats with the seed. Default 1. */
  seed?: number | string;
  /** The service's clock, as Date.now. Timers do not follow it. */
  now?: () => number;
}

/** The options, complete. */
export type Settings = Readonly<
  Required<Omit<SimulatorOptions, 'host' | 'devices' | 'appid' | 'seed' | 'offlineAfter'>>
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

const ms = (name: string, value: number): number => numberIn(name, value, 0, MAX_TIMER);

function statusOf(value: 401 | 404): 401 | 404 {
  if ([401, 404].includes(value)) return value;
  throw new OptionError('unknownApp', `must be 401 or 404, but is ${String(value)}`);
}

/**
 * Checks options and fills in the defaults.
 * @throws OptionError
 */
export function readOptions(options: SimulatorOptions): Settings {
  const { host, devices = DEFAULT_DEVICES } = options;
  if (host !== undefined && (host as string) !== LOOPBACK) {
    throw new OptionError('host', `must be ${LOOPBACK}: the simulator stays on loopback`);
  }
  const count = typeof devices === 'number' ? devices : devices.length;
  numberIn('devices', count, 0, MAX_DEVICES, 'whole');
  const { appid, serverKey, serverPassword } = DEFAULT_CREDENTIALS;
  const dialect = oneOf('dialect', options.dialect ?? 'document', DIALECT_NAMES);
  const defaults = DIALECT_DEFAULTS[dialect];
  const wait = options.offlineAfter;
  if (wait !== undefined) ms('offlineAfter', wait);
  return {
    dialect,
    replace: options.replace ?? false,
    port: numberIn('port', options.port ?? 0, 0, 65535, 'whole'),
    appid: integerText('appid', options.appid ?? appid),
    appkey: textOf('appkey', options.appkey ?? defaults.appkey),
    appName: options.appName ?? 'Simulator',
    serverKey: textOf('serverKey', options.serverKey ?? serverKey),
    serverPassword: textOf('serverPassword', options.serverPassword ?? serverPassword),
    devices: readDevices(typeof devices === 'number' ? defaultDevices(devices) : devices),
    interval: numberIn('interval', options.interval ?? 5, 0, MAX_TIMER / 1000),
    answerDelay: ms('answerDelay', options.answerDelay ?? 20),
    zone: defaults.zone,
    waits: wait === undefined ? defaults.waits : { push: wait, call: wait, refresh: wait },
    rebootTime: ms('rebootTime', options.rebootTime ?? 1000),
    historyEncoding: oneOf(
      'historyEncoding',
      options.historyEncoding ?? defaults.historyEncoding,
      HISTORY_ENCODINGS,
    ),
    historyLimit: numberIn(
      'historyLimit',
      options.historyLimit ?? defaults.historyLimit,
      0,
      1e7,
      'whole',
    ),
    historyOrder: oneOf(
      'historyOrder',
      options.historyOrder ?? defaults.historyOrder,
      HISTORY_ORDERS,
    ),
    devicesPath: oneOf('devicesPath', options.devicesPath ?? defaults.devicesPath, [
      'list',
      'lists',
      'both',
    ]),
    eventTimestamp: oneOf('eventTimestamp', options.eventTimestamp ?? EVENT_TIMESTAMP, ['s', 'ms']),
    timestampWindow: numberIn(
      'timestampWindow',
      options.timestampWindow ?? defaults.timestampWindow,
      0,
      Infinity,
    ),
    unknownApp: statusOf(options.unknownApp ?? STATUS.unknownAppid),
    pongs: options.pongs ?? ANSWERS_PINGS,
    seed: String(options.seed ?? 1),
    now: options.now ?? Date.now,
  };
}
