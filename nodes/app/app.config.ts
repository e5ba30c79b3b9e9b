import { AUTO_ZONE, CHARSETS, firstOf, MAX_SECONDS } from '../common/shared.config';

/** Where the sidebar leaves the id of an application that is to get a device book, for its dialog: data of the document. */
export const CREATE_BOOK = 'device-cloud-create-book';

export const CHOICES = {
  service: ['cloud', 'simulator'],
  timestampUnit: ['ms', 's'],
  charset: CHARSETS,
} as const;

/** Properties of the config node `device-cloud-app`: one application of the service. */
export const DEFAULTS = {
  service: firstOf(CHOICES.service),
  /** Scheme, host and port of the service. */
  baseUrl: '',
  appid: '',
  /** Seconds a call may take. */
  timeout: 15 as number | string,
  /** Seconds between two heartbeat messages on a channel. */
  heartbeat: 300 as number | string,
  /** Seconds between two pings on a channel; 0 is off. */
  ping: 30 as number | string,
  /** Unit of the timestamp in the channel's URL. */
  timestampUnit: firstOf(CHOICES.timestampUnit),
  /** Milliseconds between two commands to one device. */
  deviceGap: 0 as number | string,
  /** Time zone of the service's times, `±HH:MM`, or `auto`. */
  historyZone: AUTO_ZONE,
  /** The order of pins in `gpio_status`: `auto`, `position` or a list. */
  pins: 'auto',
  /** Of text that is not UTF-8 in an upload, and of text pushed over the channel. */
  charset: firstOf(CHOICES.charset),
  /** Path of the device book, relative to the user directory, or empty. */
  book: '',
  /** Id of a core `tls-config` node, or empty. */
  tls: '',
  /** Id of a core `http proxy` node, or empty. */
  proxy: '',
  /** Id of a `device-cloud-cluster` node, or empty. */
  cluster: '',
};
export type AppConfig = typeof DEFAULTS;

export const LIMITS = {
  heartbeat: { min: 0, max: MAX_SECONDS },
  ping: { min: 0, max: MAX_SECONDS },
  deviceGap: { min: 0, max: 1000 * MAX_SECONDS },
} as const;

export const ZONE = /^[+-](?:0\d|1[0-4]):[0-5]\d$/;

/** Whether a path may lead out of the folder that it is relative to. */
export const isOutside = (path: string): boolean =>
  !/^(?:[\\/]|[a-z]:)/i.test(path) && path.split(/[\\/]/).includes('..');

/** Credentials of the config node. Each may be `${ENV}`. */
export interface AppCredentials {
  appkey?: string;
  serverKey?: string;
  serverPassword?: string;
}
