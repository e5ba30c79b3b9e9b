/** What every action node that calls one device has: the application and which device. */
export interface DeviceConfig {
  /** Id of the `device-cloud-app` config node. */
  app: string;
  /** Chip number, or where to find it. */
  chipid: string;
  chipidType: ChipidType;
}

export type ChipidType = 'msg' | 'str' | 'flow' | 'global' | 'env' | 'jsonata';

/** Type of a typedInput whose value is read when a message arrives. */
export type ValueType =
  'msg' | 'flow' | 'global' | 'str' | 'num' | 'bool' | 'json' | 'bin' | 'date' | 'jsonata' | 'env';
