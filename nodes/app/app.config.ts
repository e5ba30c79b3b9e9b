import { AUTO_ZONE, type Charset, type HistoryEncoding } from '../common/shared.config';

/** The topic of changes to a fleet, for the editor: `{id, revision}`. */
export const FLEET_TOPIC = 'device-cloud/fleet';

/** Properties of the config node `device-cloud-app`: one application of the service. */
export interface AppConfig {
  service: 'cloud' | 'simulator' | 'recording';
  /** Path of the recording that is played, relative to the user directory. */
  recording: string;
  /** How many times as fast it is played. */
  speed: number | string;
  /** Whether it begins again at its end. */
  loop: boolean;
  /** Scheme, host and port of the service. */
  baseUrl: string;
  appid: string;
  /** Seconds a call may take. */
  timeout: number | string;
  /** Seconds between two heartbeat messages on a channel. */
  heartbeat: number | string;
  /** Seconds between two pings on a channel; 0 is off. */
  ping: number | string;
  /** Unit of the timestamp in the channel's URL. */
  timestampUnit: 'ms' | 's';
  /** HTTP connections at most. */
  connections: number | string;
  /** Milliseconds between two commands to one device. */
  deviceGap: number | string;
  historyEncoding: HistoryEncoding;
  /** Time zone of the service's times, `±HH:MM`, or `auto`. */
  historyZone: string;
  /** The order of pins in `gpio_status`: `auto`, `position` or a list. */
  pins: string;
  /** Of text that is not UTF-8 in an upload, and of text pushed over the channel. */
  charset: Charset;
  /** Where what must survive a restart is kept: in files of the user directory, or in each node's context. */
  state: 'file' | 'context';
  /** Path of the device book, relative to the user directory, or empty. */
  book: string;
  /** Where the further parameters of a POST go. */
  postParameters: 'body' | 'query';
  /** Which letters the signature lowercases. */
  signCase: 'unicode' | 'ascii';
  /** Id of a core `tls-config` node, or empty. */
  tls: string;
  /** Id of a core `http proxy` node, or empty. */
  proxy: string;
  /** Id of a `device-cloud-cluster` node, or empty. */
  cluster: string;
}

export const DEFAULTS: AppConfig = {
  service: 'cloud',
  recording: '',
  speed: 1,
  loop: false,
  baseUrl: '',
  appid: '',
  timeout: 15,
  heartbeat: 300,
  ping: 30,
  timestampUnit: 'ms',
  connections: 64,
  deviceGap: 0,
  historyEncoding: 'auto',
  historyZone: AUTO_ZONE,
  pins: 'auto',
  charset: 'utf-8',
  state: 'file',
  book: '',
  postParameters: 'body',
  signCase: 'unicode',
  tls: '',
  proxy: '',
  cluster: '',
};

export const ZONE = /^[+-](?:0\d|1[0-4]):[0-5]\d$/;

/** The zone as set, or `auto`, which an invalid one means, too. */
export const zoneOf = ({ historyZone }: Partial<AppConfig>): string =>
  historyZone !== undefined && ZONE.test(historyZone) ? historyZone : AUTO_ZONE;

/** Whether a path may lead out of the folder that it is relative to. */
export const isOutside = (path: string): boolean =>
  !/^(?:[\\/]|[a-z]:)/i.test(path) && path.split(/[\\/]/).includes('..');

/** Credentials of the config node. Each may be `${ENV}`. */
export interface AppCredentials {
  appkey?: string;
  serverKey?: string;
  serverPassword?: string;
}
