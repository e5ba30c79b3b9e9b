import assert from 'node:assert/strict';
import { Pattern } from '../../../src/util/pattern';

describe('a pattern', () => {
  it('is a regular expression of JavaScript', () => {
    for (const [pattern, text] of [
      ['^OK \\d+$', 'OK 42'],
      [/ok/gi, 'it is OK'],
      [/^b.c$/ms, 'a\nb\nc'],
      ['\\u6e29(?<unit>度)\\/[^]', '温度/\n'],
      ['id: *7\\b', '{id:  7}'],
    ] as const) {
      assert.ok(new Pattern(pattern).test(text), String(pattern));
      assert.ok(!new Pattern(pattern).test('other'), String(pattern));
    }
  });

  for (const [what, pattern] of [
    ['nested repetitions', '^(a+)+$'],
    ['alternatives that overlap', '^(a|a)*$'],
    ['several stars', 'a*a*a*a*a*a*a*[cd]'],
    ['as many states as it may have', '(a|b)*a(a|b){499}[cd]'],
  ] as const)
    it(`ends with ${what}, on the longest text`, () => {
      assert.ok(!new Pattern(pattern).test('a'.repeat(65_535) + '!'));
    });

  it('looks at no longer text', () => {
    assert.ok(new Pattern('b').test('a'.repeat(65_535) + 'b'));
    assert.ok(!new Pattern('b').test('a'.repeat(65_536) + 'b'));
  });

  for (const [pattern, why] of [
    ['', /1 to 1000 characters/],
    ['x'.repeat(1001), /1 to 1000 characters/],
    ['(', /cannot be used: .*missing closing \)/],
    ['(?=a)b', /Look-around, such as \(\?=…\), and back-references/],
    ['(?<!a)b', /Look-around/],
    ['(a)\\1', /back-references, such as \\1, are not supported/],
    [`(${'[ab]'.repeat(200)}){1000}`, /repeats too much/],
    ['a{1001}', /cannot be used: .*repeat count/],
  ] as const)
    it(`says why it cannot be ${JSON.stringify(pattern.slice(0, 20))}`, () => {
      assert.throws(() => new Pattern(pattern), why);
    });
});
