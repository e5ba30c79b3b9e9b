import type { DialectName } from '../src/simulator';

/** The dialect of the public server, where some answers are others. */
export const PUBLIC_DIALECT: DialectName = 'public-2016';

const chosen = process.env['SIMULATOR_DIALECT'];

/**
 * The dialect of the simulator that the tests of the examples and of the demo run on: `document`, or what the
 * environment variable `SIMULATOR_DIALECT` names.
 */
export const DIALECT = (chosen ?? 'document') as DialectName;

/** The same for the examples as imported, which `npm test` runs on another one on Node-RED 5. */
export const IMPORTED_DIALECT = (chosen ??
  process.env['IMPORTED_DIALECT'] ??
  'document') as DialectName;
