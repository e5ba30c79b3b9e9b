import {
  firstOf,
  MANY,
  MAX_SECONDS,
  TYPED,
  WHEN,
  WHEN_CHOICES,
  type ValueType,
} from '../common/shared.config';

export const CHOICES = { ...WHEN_CHOICES, operation: ['set', 'read', 'pulse', 'keep'] } as const;

export const DEFAULTS = {
  ...MANY,
  ...WHEN,
  ...TYPED,
  operation: firstOf(CHOICES.operation),
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

/**
 * A node that is dragged in anew begins with a pin and a level, so that it works once its device is chosen. Pin 5 of an
 * ESP8266 is wired to nothing else: others choose how it starts, or are its serial port or its memory.
 */
export const NEW_PIN = { pin: '5', pinType: 'num', level: '1', levelType: 'num' } as const;

export const LIMITS = {
  duration: { min: 1, max: 60_000, isWhole: true },
  check: { min: 0, max: MAX_SECONDS },
} as const;
