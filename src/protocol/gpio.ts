import { invalidInput } from '../errors';
import { checkJson, JsonLimitError, isObject } from '../util/json';
import { show } from '../util/show';

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

/** The level that a value stands for; undefined if it is none. */
export const levelOf = (value: unknown): 0 | 1 | undefined =>
  LEVELS.get(typeof value === 'string' ? value.trim().toLowerCase() : value);

/**
 * Reads an output level: 0, 1, "0", "1", a boolean, "high", "low", "on" or "off".
 * Section 4.2 allows `edge` no other value than 0 and 1.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseLevel(value: unknown): 0 | 1 {
  const level = levelOf(value);
  if (level !== undefined) return level;
  throw invalidInput(
    `The level must be 0, 1, true, false, "high", "low", "on" or "off", but is ${show(value)}.`,
  );
}

/** The longest pulse, in milliseconds. */
export const MAX_DURATION = 60_000;

/** Reads how long a pulse lasts, in milliseconds. @throws DeviceCloudError `INVALID_INPUT` */
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

/**
 * Which pin each level character belongs to: by its `position`, or by its place in a list; `auto` takes the answer of
 * the public server of 2016 in that server's order, and any other by position.
 */
export type PinOrder = 'auto' | 'position' | readonly number[];

/** The most pins in a list, and the highest of them: far more than any module has. */
const MAX_PINS = 256;
const MAX_PIN = 999;

/**
 * Reads the order of pins: `auto`, `position`, or a list of different pins, such as `0,1,2,3,4,5,9,10` or an array.
 * @returns undefined if it is invalid
 */
export function parsePins(value: unknown): PinOrder | undefined {
  if (value === 'auto' || value === 'position') return value;
  const items: unknown = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_PINS) return undefined;
  const pins = items.map((item: unknown) => {
    const text = typeof item === 'number' ? String(item) : item;
    return typeof text === 'string' && PIN.test(text.trim()) ? Number(text) : NaN;
  });
  const isList = pins.every((pin) => pin <= MAX_PIN) && new Set(pins).size === pins.length;
  return isList ? pins : undefined;
}

/** The order in which the public server of 2016 lists the pins, by its documents and its source. */
const PUBLIC_ORDER: readonly number[] = [0, 1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15];

const CONTROL_LEVELS: ReadonlyMap<string, 0 | 1> = new Map([
  ['\0', 0],
  ['\u0001', 1],
]);

/** The answer of that server: a character for each of its pins, U+0000 or U+0001. */
const isPublic = (result: string): boolean =>
  result.length === PUBLIC_ORDER.length &&
  Array.from(result).every((level) => CONTROL_LEVELS.has(level));

/**
 * The value of each pin of an answer. A character without a meaning stays itself; U+0000 and U+0001 mean 0 and 1 unless the
 * codes name them. A pin without a character in the answer, or a character without a pin in the order, is left out.
 */
export function readLevels(
  result: string,
  order: PinOrder,
  codes: LevelCodes,
): Map<number, unknown> {
  const list = order === 'auto' && isPublic(result) ? PUBLIC_ORDER : order;
  const levels = new Map<number, unknown>();
  Array.from(result, (level, index) => {
    const pin = typeof list === 'string' ? index : list[index];
    if (pin === undefined) return;
    levels.set(pin, codes.has(level) ? codes.get(level) : (CONTROL_LEVELS.get(level) ?? level));
  });
  return levels;
}
