import { MANY, TYPED, WHEN, type ValueType } from '../common/shared.config';

export const DEFAULTS = {
  ...MANY,
  ...WHEN,
  ...TYPED,
  operation: 'set' as 'set' | 'read' | 'pulse' | 'keep',
  /** Empty for reading all pins. */
  pin: 'pin',
  pinType: 'msg' as ValueType,
  level: 'payload',
  levelType: 'msg' as ValueType,
  /** Milliseconds of a pulse. */
  duration: 500 as number | string,
  /** Seconds between two looks at a device whose pin is kept; 0: only after it was away. */
  check: 300 as number | string,
  /** JSON object from a level character of the service to a value. */
  codes: '{"0":0,"1":1}',
};
export type GpioConfig = typeof DEFAULTS;

/** Milliseconds of a pulse, at most. */
export const MAX_DURATION = 60_000;
