export const APP_TYPE = 'device-cloud-app';

/** Properties of the config node `device-cloud-app`: one application of the service. */
export interface AppConfig {
  service: 'cloud' | 'simulator';
  /** Scheme, host and port of the service. */
  baseUrl: string;
  appid: string;
  /** Seconds a call may take, default 15. */
  timeout: number | string;
  /** Seconds between two heartbeat messages on a channel, default 300. */
  heartbeat: number | string;
  /** Seconds between two pings on a channel, default 30; 0 is off. */
  ping: number | string;
  /** Unit of the timestamp in the channel's URL. */
  timestampUnit: 'ms' | 's';
  /** HTTP connections at most, default 64. */
  connections: number | string;
  /** Milliseconds between two commands to one device, default 0. */
  deviceGap: number | string;
  /** How the service writes `body` in history records. */
  historyEncoding: 'text' | 'base64';
  /** Id of a core `tls-config` node, or empty. */
  tls: string;
  /** Id of a core `http proxy` node, or empty. */
  proxy: string;
}

/** Credentials of the config node. Each may be `${ENV}`. */
export interface AppCredentials {
  appkey?: string;
  serverKey?: string;
  serverPassword?: string;
}
