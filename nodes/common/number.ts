import { DEVICE_TIMEOUT, type DeviceCallConfig } from './action.config';

/** Reads a number property, which the editor saves as text. Empty or missing is the usual value. */
export function numberOf(value: number | string | undefined, usual: number): number {
  if (value === undefined || (typeof value === 'string' && value.trim() === '')) return usual;
  return Number(value);
}

/** The time-out of a node that waits for a device, in seconds. */
export const timeoutOf = ({ timeout }: DeviceCallConfig): number =>
  numberOf(timeout, DEVICE_TIMEOUT);
