import { invalidInput } from '../errors';
import { show } from '../util/show';

/**
 * Reads the key of a callback, as it is registered in the device's firmware (section 4.2, endpoint 8).
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseKey(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.isWellFormed()) return value;
  throw invalidInput(
    `The key of the callback must be text that is not empty, but is ${show(value)}.`,
  );
}
