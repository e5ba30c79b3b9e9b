import { AUTO_ZONE, type Charset } from '../common/shared.config';

/** The topic of changes to a fleet, for the editor: `{id, revision}`. */
export const FLEET_TOPIC = 'device-cloud/fleet';

/** Where the sidebar leaves the id of an application that is to get a device book, for its dialog: data of the document. */
export const CREATE_BOOK = 'device-cloud-create-book';

/** Properties of the config node `device-cloud-app`: one application of the service. */
export const DEFAULTS = {
  service: 'cloud' as 'cloud' | 'simulator',
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
  timestampUnit: 'ms' as 'ms' | 's',
  /** Milliseconds between two commands to one device. */
  deviceGap: 0 as number | string,
  /** Time zone of the service's times, `±HH:MM`, or `auto`. */
  historyZone: AUTO_ZONE,
  /** The order of pins in `gpio_status`: `auto`, `position` or a list. */
  pins: 'auto',
  /** Of text that is not UTF-8 in an upload, and of text pushed over the channel. */
  charset: 'utf-8' as Charset,
  /** Path of the device book, relative to the user directory, or empty. */
  book: '',
  /** Id of a core `tls-config` node, or empty. */
  tls: '',
  /** Id of a core `http proxy` node, or empty. */
  proxy: '',
};
export type AppConfig = typeof DEFAULTS;

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
