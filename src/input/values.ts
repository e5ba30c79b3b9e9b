import { DeviceCloudError, invalidInput } from '../errors';
import { DATATYPES, VALUE_DATATYPES, type Datatype, type ValueDatatype } from '../types';
import { show } from '../util/show';

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
    if (thrown instanceof DeviceCloudError) throw thrown;
    throw invalidInput(
      `The ${what} cannot be read: a proxy was revoked, or a getter or method of it throws.`,
    );
  }
}

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

/**
 * Reads one of several words.
 * @param what it is, for the error
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function oneOf<T extends string>(what: string, choices: readonly T[], value: unknown): T {
  const choice = choices.find((known) => known === value);
  if (choice !== undefined) return choice;
  throw invalidInput(
    `${what} must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, but is ${show(value)}.`,
  );
}

const datatypeOf = <T extends string>(choices: readonly [T, ...T[]], value: unknown): T =>
  oneOf('The datatype', choices, value === undefined || value === '' ? choices[0] : value);

/**
 * Reads how uploads are decoded; if nothing is given, `auto-detect`.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export const parseDatatype = (value: unknown): Datatype => datatypeOf(DATATYPES, value);

/**
 * Reads how the value of a callback is decoded; if nothing is given, `auto-detect`.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export const parseValueDatatype = (value: unknown): ValueDatatype =>
  datatypeOf(VALUE_DATATYPES, value);

/** Reads the signal that ends a call early. @throws DeviceCloudError `INVALID_INPUT` */
export function parseSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined || value === null) return undefined;
  if (readInput('signal', () => value instanceof AbortSignal)) return value as AbortSignal;
  throw invalidInput(`The signal must be an AbortSignal, but is ${show(value)}.`);
}
