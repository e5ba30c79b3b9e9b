import { MANY, TYPED, type ValueType } from '../common/shared.config';

export const DEFAULTS = {
  ...MANY,
  ...TYPED,
  /** The callback's key as registered in the device's firmware. */
  key: 'key',
  keyType: 'msg' as ValueType,
  /** How the value is decoded. */
  datatype: 'auto-detect' as 'auto-detect' | 'utf8' | 'json',
};
export type RtStatusConfig = typeof DEFAULTS;
