import { invalidInput } from '../errors';
import { DATATYPES, VALUE_DATATYPES, type Datatype, type ValueDatatype } from '../types';
import { show } from '../util/show';

function oneOf<T extends string>(choices: readonly [T, ...T[]], value: unknown): T {
  if (value === undefined || value === '') return choices[0];
  const datatype = choices.find((known) => known === value);
  if (datatype !== undefined) return datatype;
  throw invalidInput(`The datatype must be ${choices.join(', ')}, but is ${show(value)}.`);
}

/**
 * Reads how uploads are decoded; if nothing is given, `auto-detect`.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export const parseDatatype = (value: unknown): Datatype => oneOf(DATATYPES, value);

/**
 * Reads how the value of a callback is decoded; if nothing is given, `auto-detect`.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export const parseValueDatatype = (value: unknown): ValueDatatype => oneOf(VALUE_DATATYPES, value);
