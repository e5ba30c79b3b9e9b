import type { ManyConfig, ValueType } from '../common/action.config';

export const RT_STATUS_TYPE = 'device-cloud-rt-status';

export interface RtStatusConfig extends ManyConfig {
  /** The callback's key as registered in the device's firmware. */
  key: string;
  keyType: ValueType;
  /** How the value is decoded. A flow of version 0.1 has none: `auto-detect`. */
  datatype?: 'auto-detect' | 'utf8' | 'json';
}
