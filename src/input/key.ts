import { invalidInput } from '../errors';
import { show } from '../util/show';

/** The longest key, in characters: it is part of the address. */
const MAX_KEY = 65_536;

/**
 * Reads the key of a callback, as it is registered in the device's firmware (section 4.2, endpoint 8).
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseKey(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_KEY && value.isWellFormed())
    return value;
  throw invalidInput(
    `The key of the callback must be text of 1 to ${MAX_KEY} characters, but is ${show(value)}.`,
  );
}
