import assert from 'node:assert/strict';
import { parseAppid, parseChipid } from '../../../src/protocol/values';
import { BAD_CHIPIDS } from '../support/bad-values';
import { thrown } from '../support/failure';

describe('a chip number', () => {
  const good: [value: unknown, chipid: string][] = [
    [0, '0'],
    [10000001, '10000001'],
    ['10000001', '10000001'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['18446744073709551615', '18446744073709551615'],
    ['99999999999999999999', '99999999999999999999'],
    ['007', '7'],
    ['000', '0'],
    ['00000000000000000070', '70'],
  ];
  for (const [value, chipid] of good) {
    it(`can be ${JSON.stringify(value)}`, () => assert.equal(parseChipid(value), chipid));
  }

  for (const [what, value] of BAD_CHIPIDS) {
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
