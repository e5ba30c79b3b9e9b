import { invalidInput } from '../errors';
import { show } from '../util/show';
import { readInput } from './readable';

/** A signal may come from a polyfill or from another realm, such as that of a function node. */
function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false;
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>;
  return (
    typeof aborted === 'boolean' &&
    typeof addEventListener === 'function' &&
    typeof removeEventListener === 'function'
  );
}

/**
 * Reads the signal that ends a call early.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined || value === null) return undefined;
  if (readInput('signal', () => isSignal(value))) return value as AbortSignal;
  throw invalidInput(`The signal must be an AbortSignal, but is ${show(value)}.`);
}
