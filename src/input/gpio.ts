import { invalidInput } from '../errors';
import { JsonLimitError } from '../util/json-limits';
import { checkJson } from '../util/json-scan';
import { show } from '../util/show';
import { isObject } from '../util/object';

const LEVELS: ReadonlyMap<unknown, 0 | 1> = new Map<unknown, 0 | 1>([
  [0, 0],
  [1, 1],
  ['0', 0],
  ['1', 1],
  [false, 0],
  [true, 1],
  ['low', 0],
  ['high', 1],
  ['off', 0],
  ['on', 1],
]);

const PIN = /^[0-9]{1,9}$/;

/**
 * Reads a pin number: a non-negative integer, as a number or a string of digits.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parsePin(value: unknown): number {
  if (typeof value === 'string' && PIN.test(value)) return Number(value);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidInput(`The pin must be an integer from 0, but is ${show(value)}.`);
}

/**
 * Reads an output level: 0, 1, "0", "1", a boolean, "high", "low", "on" or "off".
 * Section 4.2 allows `edge` no other value than 0 and 1.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseLevel(value: unknown): 0 | 1 {
  const level = LEVELS.get(typeof value === 'string' ? value.trim().toLowerCase() : value);
  if (level !== undefined) return level;
  throw invalidInput(
    `The level must be 0, 1, true, false, "high", "low", "on" or "off", but is ${show(value)}.`,
  );
}

/** The longest pulse, in milliseconds. */
export const MAX_DURATION = 60_000;

/**
 * Reads how long a pulse lasts, in milliseconds.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseDuration(value: unknown): number {
  if (typeof value === 'number' && value >= 1 && value <= MAX_DURATION) return value;
  throw invalidInput(
    `The duration of a pulse must be a number of milliseconds from 1 to ${MAX_DURATION}, but is ${show(value)}.`,
  );
}

/** What each level character of the service means; which ones there are is not shown. */
export type LevelCodes = ReadonlyMap<string, unknown>;

/**
 * Reads the meaning of the level characters from a JSON object.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseCodes(value: unknown): LevelCodes {
  let codes = value;
  if (typeof value === 'string') {
    try {
      checkJson(Buffer.from(value));
      codes = JSON.parse(value) as unknown;
    } catch (error) {
      if (error instanceof JsonLimitError) {
        throw invalidInput(
          `The level codes are ${error.what}. Give an object such as {"0":0,"1":1}.`,
        );
      }
      throw invalidInput('The level codes are not JSON. Give an object such as {"0":0,"1":1}.');
    }
  }
  if (!isObject(codes)) {
    throw invalidInput('The level codes must be a JSON object such as {"0":0,"1":1}.');
  }
  return new Map(Object.entries(codes));
}

/** The values of all pins, index = pin. A character without a meaning stays itself. */
export function readLevels(result: string, codes: LevelCodes): unknown[] {
  return Array.from(result, (level) => (codes.has(level) ? codes.get(level) : level));
}
