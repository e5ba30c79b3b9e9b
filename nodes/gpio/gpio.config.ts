import {
  MANY,
  TYPED,
  WHEN,
  type ManyConfig,
  type TypedConfig,
  type ValueType,
  type WhenConfig,
} from '../common/shared.config';

export interface GpioConfig extends ManyConfig, WhenConfig, TypedConfig {
  operation: 'set' | 'read' | 'pulse' | 'keep';
  /** Empty for reading all pins. */
  pin: string;
  pinType: ValueType;
  level: string;
  levelType: ValueType;
  /** Milliseconds of a pulse. */
  duration: number | string;
  /** Seconds between two looks at a device whose pin is kept; 0: only after it was away. */
  check: number | string;
  /** JSON object from a level character of the service to a value. */
  codes: string;
}

export const DEFAULTS: GpioConfig = {
  ...MANY,
  ...WHEN,
  ...TYPED,
  operation: 'set',
  pin: 'pin',
  pinType: 'msg',
  level: 'payload',
  levelType: 'msg',
  duration: 500,
  check: 300,
  codes: '{"0":0,"1":1}',
};

/** Milliseconds of a pulse, at most. */
export const MAX_DURATION = 60_000;
