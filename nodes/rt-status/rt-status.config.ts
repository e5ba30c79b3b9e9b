import { firstOf, MANY, TYPED, type ValueType } from '../common/shared.config';

export const CHOICES = { datatype: ['auto-detect', 'utf8', 'json'] } as const;

export const DEFAULTS = {
  ...MANY,
  ...TYPED,
  /** The callback's key as registered in the device's firmware. */
  key: 'key',
  keyType: 'msg' as ValueType,
  /** How the value is decoded. */
  datatype: firstOf(CHOICES.datatype),
};
export type RtStatusConfig = typeof DEFAULTS;
