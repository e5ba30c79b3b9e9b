import { invalidInput } from '../errors';
import { DATATYPES, type Datatype } from '../types';
import { show } from '../util/show';

/**
 * Reads how uploads are decoded; if nothing is given, `auto-detect`.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseDatatype(value: unknown): Datatype {
  if (value === undefined || value === '') return 'auto-detect';
  const datatype = DATATYPES.find((known) => known === value);
  if (datatype) return datatype;
  throw invalidInput(`The datatype must be ${DATATYPES.join(', ')}, but is ${show(value)}.`);
}
