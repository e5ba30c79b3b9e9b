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

/** The service's own limit of 10 seconds (section 8), plus the network. */
export const DEVICE_TIMEOUT = 12;

export type ChipidType = 'msg' | 'str' | 'flow' | 'global' | 'env' | 'jsonata';

/** How an uploaded body becomes a payload. */
export type Datatype = 'auto-detect' | 'buffer' | 'utf8' | 'json' | 'base64';

/** Type of a typedInput whose value is read when a message arrives. */
export type ValueType =
  'msg' | 'flow' | 'global' | 'str' | 'num' | 'bool' | 'json' | 'bin' | 'date' | 'jsonata' | 'env';
