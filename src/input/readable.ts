import { DeviceCloudError, invalidInput } from '../errors';

/** Anything can be thrown, even a proxy that throws when its class is asked for. */
function isOurs(thrown: unknown): boolean {
  try {
    return thrown instanceof DeviceCloudError;
  } catch {
    return false;
  }
}

/**
 * Reads a value from outside, which may throw whatever is done with it: a revoked proxy, or an object
 * with a getter or a `toJSON` that throws. What it throws is not repeated: it may hold anything.
 * @param what the value, for the error
 * @param read may throw a DeviceCloudError of its own, which is passed on
 * @throws DeviceCloudError `INVALID_INPUT` if the value cannot be read
 */
export function readInput<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (isOurs(thrown)) throw thrown;
    throw invalidInput(
      `The ${what} cannot be read: a proxy was revoked, or a getter or method of it throws.`,
    );
  }
}
