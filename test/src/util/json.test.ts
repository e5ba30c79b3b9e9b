import assert from 'node:assert/strict';
import { parseJson } from '../../../src/util/json';

describe('JSON from the service', () => {
  const kept: [what: string, text: string, value: unknown][] = [
    ['a chip number of 20 digits', '{"chipid":18446744073709551615}', '18446744073709551615'],
    ['one that is the whole answer', '18446744073709551615', '18446744073709551615'],
    ['a negative one', '[-18446744073709551615]', '-18446744073709551615'],
    ['the first integer that is not safe', '[9007199254740992]', '9007199254740992'],
    ['the last safe integer, a number', '[9007199254740991]', 9007199254740991],
    ['a fraction, a number', '[1234567890123456.5]', 1234567890123456.5],
    ['an exponent, a number', '[1e21]', 1e21],
  ];
  for (const [what, text, value] of kept) {
    it(`keeps ${what}`, () => {
      const parsed = parseJson(text);
      const first: unknown =
        typeof parsed === 'object' && parsed !== null ? Object.values(parsed)[0] : parsed;
      assert.deepEqual(first, value);
    });
  }

  it('keeps NUL, escapes and keys that every object has', () => {
    const text = '{"devkey":"k\\u0000x","__proto__":{"a":1},"id":12345678901234567890}';
    const value = parseJson(text) as Record<string, unknown>;
    assert.equal(value['devkey'], 'k\0x');
    assert.deepEqual(Object.keys(value), ['devkey', '__proto__', 'id']);
    assert.equal(({} as Record<string, unknown>)['a'], undefined);
  });

  it('ignores a byte order mark before it, and nowhere else', () => {
    for (const json of ['\uFEFF [12345678901234567890, 1]', '[12345678901234567890, 1]\n'])
      for (const form of [json, Buffer.from(json)])
        assert.deepEqual(parseJson(form), ['12345678901234567890', 1]);
    for (const json of [' \uFEFF[1]', '\uFEFF\uFEFF[1]', '[1]\uFEFF', '\uFEFF'])
      for (const form of [json, Buffer.from(json)])
        assert.throws(() => parseJson(form), SyntaxError);
  });

  const broken = ['', 'x', '{', '[12345678901234567890', '[012345678901234567890]', '{"a":1}x'];
  for (const text of broken) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseJson(text), SyntaxError);
    });
  }
});
