import { DeviceCloudError, invalidInput, withoutCode } from '../errors';
import { show } from '../util/show';
import { readInput } from './values';

const DIGITS = /^[0-9]{1,20}$/;

function digits(value: unknown): string | undefined {
  if (typeof value === 'string') return DIGITS.test(value) ? value : undefined;
  return Number.isSafeInteger(value) && (value as number) >= 0 ? String(value) : undefined;
}

/** A text without the zeros that its number does not need: `007` and `7` are one device, `000` is `0`. */
export const dropLeadingZeros = (text: string): string =>
  text.startsWith('0') ? text.replace(/^0+(?=[0-9])/, '') : text;

/** A chip number as {@link parseChipid} returns it; undefined if it is invalid. */
export function chipidOf(value: unknown): string | undefined {
  const chipid = digits(value);
  return chipid === undefined ? undefined : dropLeadingZeros(chipid);
}

/**
 * Reads a chip number: a non-negative integer of at most 20 digits, as a safe integer or as a string
 * of ASCII digits. It stays text from here on, so that it never loses a digit; leading zeros are dropped,
 * so that one device has one queue and one channel however its number is written.
 * @throws DeviceCloudError `INVALID_INPUT` for anything else
 */
export function parseChipid(value: unknown): string {
  const chipid = chipidOf(value);
  if (chipid !== undefined) return chipid;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) {
    throw invalidInput(
      `The chip number ${value} is beyond the safe integers and may have lost digits. ` +
        'Give it as a string of digits.',
    );
  }
  throw invalidInput(
    `The chip number must be an integer of 1 to 20 digits, as a number or a string, but is ${show(value)}.`,
  );
}

/**
 * Reads an array of chip numbers.
 * @throws DeviceCloudError `INVALID_INPUT`, which says which one is wrong
 */
export function parseChipids(value: unknown): string[] {
  return readInput('array of devices', () => {
    if (!Array.isArray(value))
      throw invalidInput(`The devices must be an array of chip numbers, but are ${show(value)}.`);
    return Array.from({ length: value.length }, (_, index) => {
      try {
        return parseChipid(value[index]);
      } catch (error) {
        const why = error instanceof DeviceCloudError ? ` ${withoutCode(error)}` : '';
        throw invalidInput(`Nothing was sent, since element ${index} is wrong.${why}`);
      }
    });
  });
}

/**
 * Reads an application's id, which has the form of a chip number. It stays as the web console shows it,
 * zeros included, since it is signed as it is written. Undefined if it is not one.
 */
export function parseAppid(value: unknown): string | undefined {
  return digits(value);
}
