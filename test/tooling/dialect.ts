import type { DialectName } from '../../src/simulator';

/** The dialect of the public server, where some answers are others. */
export const PUBLIC_DIALECT: DialectName = 'public-2016';
const DOCUMENT: DialectName = 'document';

/**
 * The dialect of the simulator that the tests of the examples and of the demo run on: `document`, or what the
 * environment variable `SIMULATOR_DIALECT` names.
 */
export const DIALECT = (process.env['SIMULATOR_DIALECT'] ?? DOCUMENT) as DialectName;

let current = DIALECT;

/** The dialect that the simulators of the present test have, unless it says otherwise: see {@link inEachDialect}. */
export const currentDialect = (): DialectName => current;

/** Whether it is the public server's. */
export const isPublic = (): boolean => current === PUBLIC_DIALECT;

/**
 * A `describe` that runs once on a service as its document says, and once on one as the public server: what a user is
 * promised holds on both.
 */
export function inEachDialect(title: string, tests: (dialect: DialectName) => void): void {
  for (const dialect of [DOCUMENT, PUBLIC_DIALECT])
    describe(`${title} (${dialect})`, () => {
      let outer: DialectName;
      before(() => {
        outer = current;
        current = dialect;
      });
      after(() => (current = outer));
      tests(dialect);
    });
}
