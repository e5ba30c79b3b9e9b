import { durationOf, parseAppid, readTimeout } from './protocol/values';
import { parsePins, type PinOrder } from './protocol/gpio';
import { notConfigured, type DeviceCloudError } from './errors';
import type { Keeping } from './store/store';
import { GUARD, type Guard } from './util/guard';
import { show } from './util/show';
import { parseZone, USUAL_ZONE } from './recovery/zone';
import { CHARSETS, type Charset, type ProxySettings } from './types';
import { hasGbk } from './util/gbk';
import type { TlsSettings } from './http/tls';

/** The options of a client. Durations are in milliseconds. */
export interface ClientOptions {
  /** Scheme, host and port of the service, for example `https://cloud.example.com`. */
  baseUrl: string;
  /** The application's id, for the open API and the channel. */
  appid?: string | number;
  /** The application's key (section 5.2). */
  appkey?: string;
  /** The product key of the server API (section 5.1). */
  serverKey?: string;
  /** The password that belongs to the product key. */
  serverPassword?: string;
  /** How long a call may take, default 15,000; of calls to a device see {@link CallOptions}. */
  timeout?: number;
  /** Between two heartbeat messages on a channel, default 300,000; 0 is off. */
  heartbeat?: number;
  /** Between two pings on a channel, default 30,000; 0 is off. */
  ping?: number;
  /** Unit of the timestamp in the channel's URL, default `ms` (section 4.3). */
  timestampUnit?: 'ms' | 's';
  /** Between two commands to one device, default 0. */
  deviceGap?: number;
  /**
   * The order of the pins in the answer of `gpioStatus`, which is not shown: `auto` (default), twelve characters that are
   * all U+0000 or U+0001 are in the order of the public server of 2016, and any others are by position; `position`, the
   * first character is pin 0; or a list, as an array or as text such as `0,1,2,3,4,5,9,10,12,13,14,15`.
   */
  pins?: string | readonly (number | string)[];
  /**
   * The time zone of the service's times: `auto` (default), learned from uploads that came both ways, `+08:00` until
   * then; or an offset such as `+00:00`.
   */
  historyZone?: string;
  /**
   * The charset of text that is not valid UTF-8 in an upload, and of text pushed over the channel: `utf-8` (default)
   * or `gbk`.
   */
  charset?: Charset;
  /** TLS settings for HTTP and channel alike; default: Node.js's own. */
  tls?: TlsSettings;
  /** A proxy; default: the environment's. `false`: none. */
  proxy?: ProxySettings | false;
  /**
   * The path of the device book: a CSV file with a header, `chipid` and any of `name`, `groups`, `type`, `note` and columns of
   * your own. It is watched. Default: none.
   */
  book?: string;
  /** What survives a restart: kept pins. Default: nothing. The client does not close it. */
  store?: Keeping;
  /** Own code: of a process that shares its devices with others. */
  [GUARD]?: Guard;
  /** Milliseconds since 1970, default Date.now. */
  now?: () => number;
  /** A number from 0 up to 1, default Math.random. */
  random?: () => number;
}

/** Where the service is: `https://host[:port]` for HTTP, `wss://host[:port]` for the channel. */
export interface Address {
  origin: string;
  channelOrigin: string;
}

type WithDefaults = Pick<
  ClientOptions,
  'timeout' | 'heartbeat' | 'ping' | 'deviceGap' | 'timestampUnit' | 'historyZone' | 'charset'
>;

/** {@link ClientOptions}, checked and complete. */
export interface Settings extends Address, Required<WithDefaults> {
  openApi: { appid: string; appkey: string } | undefined;
  serverApi: { serverKey: string; serverPassword: string } | undefined;
  pins: PinOrder;
  book: string | undefined;
}

const HEADER_TEXT = /^[\x21-\x7e]+$/;

const badAddress = (what: string): DeviceCloudError =>
  notConfigured(
    `The address of the service ${what}. Give scheme, host and port alone, for example https://cloud.example.com:8443.`,
  );

/**
 * Reads the address of the service: scheme, host and port. A trailing `/` is fine.
 * What was typed is not repeated in the error when it may hold a password.
 * @throws DeviceCloudError `NOT_CONFIGURED` that says which part is wrong
 */
export function parseBaseUrl(text: unknown): Address {
  // A program that is not in TypeScript may leave it out.
  const given = text ?? '';
  if (typeof given !== 'string') throw badAddress('is not text');
  if (given.trim() === '') throw badAddress('is missing');
  const [, variable] = /\$[{(](\w{1,100})[)}]/.exec(given) ?? [];
  if (variable !== undefined)
    throw badAddress(`contains the variable ${variable}, but a variable must be the whole address`);
  let url: URL;
  try {
    url = new URL(given.trim());
  } catch {
    throw badAddress('is not a URL');
  }
  const { protocol, host } = url;
  if (protocol !== 'https:' && protocol !== 'http:')
    throw badAddress('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '')
    throw badAddress('must have no user name or password');
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(given))
    throw badAddress('must have no query and no fragment');
  if (url.pathname !== '/') throw badAddress('must have no path');
  return {
    origin: `${protocol}//${host}`,
    channelOrigin: `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}`,
  };
}

/** Reads one of several words. The first one is the default. */
function choiceOf<T extends string>(
  value: T | undefined,
  name: string,
  choices: readonly [T, ...T[]],
): T {
  const choice = value === undefined ? choices[0] : choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  throw notConfigured(`${name} must be ${choices.join(' or ')}, but is ${show(value)}.`);
}

function readPins(value: ClientOptions['pins'] = 'auto'): PinOrder {
  const pins = parsePins(value);
  if (pins !== undefined) return pins;
  throw notConfigured(
    `The order of pins must be auto, position, or a list of different pins such as 0,1,2,3, but is ${show(value)}.`,
  );
}

function readOpenApi(options: ClientOptions): Settings['openApi'] {
  const { appid, appkey } = options;
  if (appid === undefined || appid === '' || appkey === undefined || appkey === '')
    return undefined;
  const id = parseAppid(appid);
  if (id === undefined) throw notConfigured('The appid must be an integer of 1 to 20 digits.');
  return { appid: id, appkey };
}

function readServerApi(options: ClientOptions): Settings['serverApi'] {
  const { serverKey, serverPassword } = options;
  if (!serverKey || !serverPassword) return undefined;
  if (!HEADER_TEXT.test(serverKey)) {
    throw notConfigured(
      "The server API's key must be printable ASCII without spaces, since it goes into a header.",
    );
  }
  return { serverKey, serverPassword };
}

function readZone(zone: unknown = 'auto'): string {
  if (typeof zone === 'string' && (zone === 'auto' || parseZone(zone) !== undefined)) return zone;
  throw notConfigured(
    `historyZone must be auto or an offset such as ${USUAL_ZONE}, but is ${show(zone)}.`,
  );
}

function readCharset(charset: Charset | undefined): Charset {
  const choice = choiceOf(charset, 'charset', CHARSETS);
  if (choice !== 'gbk' || hasGbk()) return choice;
  throw notConfigured(
    'charset is gbk, which this Node.js cannot decode. Use one with full ICU, or install its full ICU data.',
  );
}

function readBook(path: unknown): string | undefined {
  if (path === undefined) return undefined;
  if (typeof path === 'string' && path !== '' && !path.includes('\0')) return path;
  throw notConfigured(`The device book must be the path of a file, but is ${show(path)}.`);
}

/**
 * Checks the options of a client, before anything is opened.
 * @throws DeviceCloudError `NOT_CONFIGURED` that names the setting
 */
export function readSettings(options: ClientOptions): Settings {
  return {
    ...parseBaseUrl(options.baseUrl),
    openApi: readOpenApi(options),
    serverApi: readServerApi(options),
    timeout: readTimeout(options.timeout, 15_000),
    heartbeat: durationOf(options.heartbeat, 'The heartbeat', 300_000, 0),
    ping: durationOf(options.ping, 'The ping', 30_000, 0),
    timestampUnit: choiceOf(options.timestampUnit, 'timestampUnit', ['ms', 's']),
    deviceGap: durationOf(options.deviceGap, 'The gap between two commands', 0, 0),
    pins: readPins(options.pins),
    historyZone: readZone(options.historyZone),
    charset: readCharset(options.charset),
    book: readBook(options.book),
  };
}
