import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseCodes, parseLevel, parsePin, readLevels } from '../../../src/input/gpio';
import { anyText, holds, textOf } from '../support/fuzz';
import { anything, reading } from '../support/typed';

const numeral = textOf('0123456789-+.e ٣', { maxLength: 11 });
const values = fc.oneof(anything, anyText, numeral);
const word = fc
  .tuple(
    fc.constantFrom('0', '1', 'low', 'high', 'off', 'on', 'true', 'false', 'toggle', '2', ''),
    fc.constantFrom('', ' ', '\n', '\0'),
    fc.func(fc.boolean()),
  )
  .map(([text, space, upper]) => {
    const letters = Array.from(text, (each, at) => (upper(at) ? each.toUpperCase() : each));
    return space + letters.join('') + space;
  });

const LOW = ['0', 'low', 'off'];
const HIGH = ['1', 'high', 'on'];

/** The contract's list of levels. */
function levelOf(value: unknown): 0 | 1 | undefined {
  if (value === true || value === 1) return 1;
  if (value === false || value === 0) return 0;
  if (typeof value !== 'string') return undefined;
  const name = value.trim().toLowerCase();
  if (HIGH.includes(name)) return 1;
  return LOW.includes(name) ? 0 : undefined;
}

const code = fc.oneof(fc.constantFrom('0', '1', 'x', '😀', '__proto__', 'ab', ''), anyText);
const codes = fc.array(fc.tuple(code, fc.jsonValue()), { maxLength: 5 });

describe('pins and levels, read from any value', () => {
  holds(
    'are a pin that a path can hold, or are refused',
    1000,
    fc.property(values, (value) => {
      const pin = reading(() => parsePin(value))?.value;
      if (pin === undefined) return;
      assert.match(`${pin}`, /^[0-9]{1,16}$/);
      assert.equal(pin, Number(value));
    }),
  );

  holds(
    'include every pin',
    200,
    fc.property(fc.nat(999_999_999), (pin) => {
      assert.equal(parsePin(pin), pin);
      assert.equal(parsePin(String(pin)), pin);
    }),
  );

  holds(
    'are 0 or 1, or are refused',
    1000,
    fc.property(fc.oneof(values, word), (value) => {
      assert.equal(reading(() => parseLevel(value))?.value, levelOf(value));
    }),
  );

  holds(
    'are the value of each character by the codes, or the character, by position',
    500,
    fc.property(fc.oneof(anyText, textOf('01x😀', { maxLength: 20 })), codes, (result, pairs) => {
      const table = Object.fromEntries(pairs);
      const read = readLevels(result, 'position', parseCodes(JSON.stringify(table)));
      assert.deepEqual(
        [...read.keys()],
        Array.from([...read], (_, index) => index),
      );
      const levels = [...read.values()];
      const plain = JSON.parse(JSON.stringify(table)) as Record<string, unknown>;
      const control = new Map([
        ['\0', 0],
        ['\u0001', 1],
      ]);
      const expected = Array.from(result, (each) =>
        Object.hasOwn(plain, each) ? plain[each] : (control.get(each) ?? each),
      );
      assert.deepEqual(levels, expected);
    }),
  );

  holds(
    'have codes in a JSON object, or codes that are refused',
    500,
    fc.property(fc.oneof(values, fc.json()), (value) => {
      let parsed = value;
      if (typeof value === 'string') {
        try {
          parsed = JSON.parse(value) as unknown;
        } catch {
          parsed = undefined;
        }
      }
      const isTable = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
      assert.equal(reading(() => parseCodes(value)) !== undefined, isTable);
    }),
  );
});
