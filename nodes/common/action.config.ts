/** What every action node that calls one device has: the application and which device. */
export interface DeviceConfig {
  /** Id of the `device-cloud-app` config node. */
  app: string;
  /** Chip number, or where to find it. */
  chipid: string;
  chipidType: ChipidType;
}

/** What every action node has that waits for the answer of a device. */
export interface DeviceCallConfig extends DeviceConfig {
  /** Seconds to wait, default {@link DEVICE_TIMEOUT}. A flow of an older version has none. */
  timeout: number | string;
}

/** What a node has that may call several devices for one message. A flow of version 0.1 has none of it. */
export interface ManyConfig extends DeviceCallConfig {
  /** Whether the device may be an array of chip numbers. */
  many?: boolean;
  /** The most of them, default {@link LIMIT}. */
  limit?: number | string;
  /** How many calls run at once, default {@link AT_ONCE}. */
  atOnce?: number | string;
}

export const LIMIT = 100;
export const AT_ONCE = 16;
/** The most that either may be. */
export const MAX_MANY = 10_000;

/** What a node has whose command may wait for its device. A flow of version 0.1 has none of it. */
export interface WhenConfig {
  when?: 'now' | 'online' | 'upload';
  /** Seconds that the command waits, default {@link EXPIRES}. */
  expires?: number | string;
}

export const EXPIRES = 3600;

/** The service's own limit of 10 seconds (section 8), plus the network. */
export const DEVICE_TIMEOUT = 12;

export type ChipidType = 'msg' | 'str' | 'flow' | 'global' | 'env' | 'jsonata';

/** How an uploaded body becomes a payload. */
export type Datatype = 'auto-detect' | 'buffer' | 'utf8' | 'json' | 'base64';

/** Type of a typedInput whose value is read when a message arrives. */
export type ValueType =
  | 'msg'
  | 'flow'
  | 'global'
  | 'str'
  | 'num'
  | 'bool'
  | 'json'
  | 'bin'
  | 'date'
  | 'jsonata'
  | 'env';
