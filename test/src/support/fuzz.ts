import fc from 'fast-check';

const RUNS = process.env['FUZZ_RUNS'];
/** How many times as many runs as usual: see CONTRIBUTING. */
const TIMES = Math.max(1, Number(RUNS) || 1);

/** A usual run tries the same values each time; one of more runs other ones, and says its seed when it fails. */
const SEED = process.env['FUZZ_SEED'] ?? (RUNS === undefined ? '1' : undefined);
if (SEED !== undefined) fc.configureGlobal({ seed: Number(SEED) });

/** Milliseconds after which a property that hangs is given up. */
const TIMEOUT = 180_000;

type Property<T> = fc.IProperty<T> | fc.IAsyncProperty<T>;

/**
 * A test that looks for a counterexample to a property.
 * @param runs how many times it is tried in a usual run
 */
export function holds<T>(
  what: string,
  runs: number,
  property: Property<T>,
  parameters: fc.Parameters<T> = {},
): void {
  it(what, async function () {
    this.timeout(TIMEOUT * TIMES);
    await fc.assert(property, { ...parameters, numRuns: runs * TIMES });
  });
}

/** Text of these characters alone. */
export const textOf = (
  characters: string,
  { minLength = 0, maxLength = 12 } = {},
): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from(characters)), minLength, maxLength });

/** What has a meaning in a query, a form or JSON, and letters whose lowercase is peculiar. */
const AWKWARD = '+&=%?#/ \0\r\n"\\;,aAzZ09İΣßſ😀';

/** Any character, as fast-check's unit `binary`, which takes a second of each process to be prepared. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800));

/** Text of any UTF-16 code units: NUL, line ends, halves of surrogate pairs. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  textOf(AWKWARD),
  fc
    .array(fc.nat(0xffff), { maxLength: 12 })
    .map((units) => units.map((unit) => String.fromCharCode(unit)).join('')),
);
