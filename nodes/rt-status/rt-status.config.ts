import {
  MANY,
  TYPED,
  type ManyConfig,
  type TypedConfig,
  type ValueType,
} from '../common/shared.config';

export interface RtStatusConfig extends ManyConfig, TypedConfig {
  /** The callback's key as registered in the device's firmware. */
  key: string;
  keyType: ValueType;
  /** How the value is decoded. */
  datatype: 'auto-detect' | 'utf8' | 'json';
}

export const DEFAULTS: RtStatusConfig = {
  ...MANY,
  ...TYPED,
  key: 'key',
  keyType: 'msg',
  datatype: 'auto-detect',
};
