import type { DeviceCallConfig, ValueType } from '../common/action.config';

export const GPIO_TYPE = 'device-cloud-gpio';

export interface GpioConfig extends DeviceCallConfig {
  operation: 'set' | 'read';
  /** Empty for reading all pins. */
  pin: string;
  pinType: ValueType;
  level: string;
  levelType: ValueType;
  /** JSON object from a level character of the service to a value. */
  codes: string;
}
