/**
 * Checks of values from outside, each of which returns a typed value. Code that calls the client, such as a
 * node, imports only what it has to check itself: the client checks its arguments.
 */
export { keyWarnings } from './pasted-key';
export { chipidOf, dropLeadingZeros, parseChipid, parseChipids } from './values';
export { parseDatatype, parseValueDatatype, parseKey, readInput } from './values';
export { readAddress } from './engine-address';
export { parsePeriod } from './day';
export { parseCodes, parseDuration, parseLevel, parsePin, type LevelCodes } from './gpio';
export { parseFormat, pushMessage } from './values';
export { invalidInput, notConfigured } from '../errors';
export { Pattern } from '../util/pattern';
export { decodeBase64 } from '../util/decode';
export { readCsv } from '../util/csv';
export { JsonLimitError, parseJson } from '../util/json';
export { decode, encode } from '../util/message';
export { uploadText } from '../util/decode';
export { oneLine, printable, show } from '../util/show';
