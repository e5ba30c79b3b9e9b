import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseAppid, parseChipid } from '../../../src/input/chipid';
import { anyText, holds, textOf } from '../support/fuzz';
import { anything, reading } from '../support/typed';

const DIGITS = '0123456789';
const digits = textOf(DIGITS, { minLength: 1, maxLength: 20 });

/** One to twenty ASCII digits, looked at one by one. */
const isChipid = (text: string): boolean =>
  text.length >= 1 && text.length <= 20 && Array.from(text).every((each) => DIGITS.includes(each));

const nearly = fc.oneof(
  anyText,
  textOf(DIGITS, { minLength: 19, maxLength: 23 }),
  textOf(`${DIGITS}-.e \n١１`, { maxLength: 24 }),
  fc.tuple(digits, anyText).map(([good, more]) => good + more),
);

describe('a chip number, read from any value', () => {
  holds(
    'keeps every digit of a text, except leading zeros',
    200,
    fc.property(digits, (text) => {
      assert.equal(parseChipid(text), String(BigInt(text)));
    }),
  );

  holds(
    'keeps every digit of a number',
    200,
    fc.property(fc.maxSafeNat(), (number) => {
      assert.equal(BigInt(parseChipid(number)), BigInt(number));
    }),
  );

  holds(
    'is no other text',
    500,
    fc.property(nearly, (text) => {
      const read = reading(() => parseChipid(text));
      assert.deepEqual(read, isChipid(text) ? { value: String(BigInt(text)) } : undefined);
      assert.equal(parseAppid(text), isChipid(text) ? text : undefined);
    }),
  );

  holds(
    'is digits or a clear error, and nothing else',
    500,
    fc.property(anything, (value) => {
      const read = reading(() => parseChipid(value));
      if (read) assert.ok(isChipid(read.value));
      const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
      assert.equal(read !== undefined, isWhole || (typeof value === 'string' && isChipid(value)));
      assert.equal(parseAppid(value) === undefined, read === undefined);
    }),
  );
});
