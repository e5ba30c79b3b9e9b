import assert from 'node:assert/strict';
import { parseAppid, parseChipid } from '../../../src/protocol/values';
import { thrown } from '../support/failure';

describe('a chip number', () => {
  const good: [value: unknown, chipid: string][] = [
    [0, '0'],
    ['10000001', '10000001'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['99999999999999999999', '99999999999999999999'],
    ['007', '7'],
    ['00000000000000000000', '0'],
  ];
  for (const [value, chipid] of good) {
    it(`can be ${JSON.stringify(value)}`, () => assert.equal(parseChipid(value), chipid));
  }

  const bad: [what: string, value: unknown][] = [
    ['a way up the path', '../x'],
    ['an encoded slash', '%2f'],
    ['a fraction', 1.5],
    ['a fraction as text', '1.5'],
    ['negative', -1],
    ['negative as text', '-1'],
    ['empty', ''],
    ['null', null],
    ['undefined', undefined],
    ['infinite', Infinity],
    ['beyond the safe integers', 2 ** 53],
    ['of 21 digits', '1'.repeat(21)],
    ['with spaces', ' 1 '],
    ['ending in a line end', '1\n'],
    ['with an exponent', '1e3'],
    ['hexadecimal', '0x10'],
    ['of digits of another script', '１２３'],
    ['true', true],
    ['a BigInt', 1n],
    ['an array', [10000001]],
    ['an object that pretends', { toString: () => '10000001' }],
    ['a symbol', Symbol('1')],
  ];
  for (const [what, value] of bad) {
    it(`cannot be ${what}`, () => {
      assert.match(thrown(() => parseChipid(value), 'INVALID_INPUT').message, /chip number/);
    });
  }

  it('that has lost digits as a number is refused, with advice', () => {
    const { message } = thrown(() => parseChipid(2 ** 53), 'INVALID_INPUT');
    assert.match(message, /string of digits/);
  });

  it('follows the same rules as an appid', () => {
    assert.equal(parseAppid(10001), '10001');
    assert.equal(parseAppid('x'), undefined);
    // It is signed as it is written.
    assert.equal(parseAppid('007'), '007');
  });
});
