import fc from 'fast-check';
import { anyText, textOf } from '../support/fuzz';

/** JSON as text, and what it has to be read as. */
export interface JsonText {
  text: string;
  value: unknown;
}

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });
const spaced = (inner: fc.Arbitrary<JsonText>): fc.Arbitrary<JsonText> =>
  fc.tuple(space, inner, space).map(([before, { text, value }, after]) => ({
    text: before + text + after,
    value,
  }));

/** An integer stays a number as long as a number can hold it, and else becomes its digits. */
const integer: fc.Arbitrary<JsonText> = fc
  .tuple(
    fc.boolean(),
    fc.oneof(
      textOf('0123456789', { minLength: 1, maxLength: 25 }),
      fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map(String),
    ),
  )
  .map(([negative, digits]) => {
    const text = (negative ? '-' : '') + (digits.replace(/^0+/, '') || '0');
    const big = BigInt(digits);
    // As JSON has it, -0 is a number of its own.
    const number = big === 0n && negative ? -0 : Number(text);
    return { text, value: big <= BigInt(Number.MAX_SAFE_INTEGER) ? number : text };
  });

const decimal: fc.Arbitrary<JsonText> = fc
  .tuple(
    integer,
    fc.constantFrom('.0', '.5', '.12345678901234567890', ''),
    fc.constantFrom('e0', 'E+2', 'e-20', 'e400', ''),
  )
  .filter(([, fraction, exponent]) => fraction + exponent !== '')
  .map(([{ text }, fraction, exponent]) => {
    const whole = text + fraction + exponent;
    return { text: whole, value: Number(whole) };
  });

const escaped = (unit: string, how: number): string => {
  const code = unit.charCodeAt(0);
  const mustEscape = code < 0x20 || unit === '"' || unit === '\\';
  if (!mustEscape && how > 0) return unit;
  if ((unit === '"' || unit === '\\' || unit === '/') && how < 2) return `\\${unit}`;
  return `\\u${code.toString(16).padStart(4, '0')}`;
};

/** Strings that look like numbers and like JSON are the ones to mistake. */
const content = fc.oneof(
  anyText,
  fc.constantFrom(':12345678901234567890', '\\', '\\"', '",[12345678901234567890', '__proto__', ''),
  integer.map(({ text }) => text),
);
const string: fc.Arbitrary<{ text: string; value: string }> = fc
  .tuple(content, fc.array(fc.nat(5), { minLength: 1, maxLength: 24 }))
  .map(([value, ways]) => {
    let next = 0;
    const how = (): number => ways[next++ % ways.length] ?? 1;
    const units = Array.from({ length: value.length }, (_, index) => value[index] ?? '');
    return { text: `"${units.map((unit) => escaped(unit, how())).join('')}"`, value };
  });

const literal = fc.constantFrom<JsonText>(
  { text: 'null', value: null },
  { text: 'true', value: true },
  { text: 'false', value: false },
);

/**
 * A name. Never a lone backslash: after one, JSON.parse of Node.js 24 reads other escaped names as
 * a backslash (https://github.com/nodejs/node/issues/63785).
 */
const name = string.filter(({ value }) => value !== '\\');

/**
 * Any JSON that UTF-8 can hold, with white space and escapes wherever they may be. Half of a surrogate pair may be escaped alone,
 * which leaves the other half.
 */
export const jsonText: fc.Arbitrary<JsonText> = fc
  .letrec<{ value: JsonText }>((tie) => ({
    value: spaced(
      fc.oneof(
        { maxDepth: 4 },
        { weight: 4, arbitrary: integer },
        { weight: 2, arbitrary: decimal },
        { weight: 3, arbitrary: string },
        { weight: 1, arbitrary: literal },
        {
          weight: 2,
          arbitrary: fc.array(tie('value'), { maxLength: 4 }).map((items) => ({
            text: `[${items.map(({ text }) => text).join(',')}]`,
            value: items.map(({ value }) => value),
          })),
        },
        {
          weight: 2,
          arbitrary: fc
            .array(fc.tuple(name, space, tie('value')), { maxLength: 4 })
            .map((members) => ({
              text: `{${members.map(([key, gap, { text }]) => `${key.text}${gap}:${text}`).join(',')}}`,
              // Of a name that comes twice the last counts; none sets a prototype.
              value: Object.fromEntries(members.map(([key, , { value }]) => [key.value, value])),
            })),
        },
      ),
    ),
  }))
  .value.filter(({ text }) => text.isWellFormed());
