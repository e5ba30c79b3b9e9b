import type { ManyConfig, ValueType, WhenConfig } from '../common/action.config';

export const GPIO_TYPE = 'device-cloud-gpio';

/** Milliseconds of a pulse: the default, and the most. */
export const DURATION = 500;
export const MAX_DURATION = 60_000;

export interface GpioConfig extends ManyConfig, WhenConfig {
  operation: 'set' | 'read' | 'pulse';
  /** Empty for reading all pins. */
  pin: string;
  pinType: ValueType;
  level: string;
  levelType: ValueType;
  /** Milliseconds of a pulse, default {@link DURATION}. A flow of version 0.1 has none. */
  duration?: number | string;
  /** JSON object from a level character of the service to a value. */
  codes: string;
}
