import assert from 'node:assert/strict';
import { redactor } from '../../../src/util/show';
import { oneLine, show } from '../../../src/util/show';

describe('the redaction of what the service says', () => {
  const redact = redactor(['App-Key/Ä', undefined, 'PassWord']);

  it('hides the secrets, in any case', () => {
    assert.equal(redact('a App-Key/Ä b app-key/ä c password d'), 'a *** b *** c *** d');
  });

  it('hides whatever looks like a signature', () => {
    assert.equal(redact('sign=0123456789abcdef0123456789ABCDEF!'), 'sign=***!');
  });

  it('leaves everything else alone', () => {
    assert.equal(redact('device 10000001 is offline'), 'device 10000001 is offline');
  });

  it('hides a short secret as a word of its own, and no word of a sentence', () => {
    assert.equal(redactor(['wrong'])('sign is wrong'), 'sign is wrong');
    assert.equal(redactor(['a1b2'])('key a1b2, a1b2c3 and xa1b2'), 'key ***, a1b2c3 and xa1b2');
    assert.equal(redactor(['12'])('device 12'), 'device 12');
  });

  it('hides a whole key that begins like a signature, or as another key', () => {
    const key = '0123456789abcdef0123456789abcdef-rest';
    assert.equal(redactor([key])(`key ${key}`), 'key ***');
    assert.equal(redactor(['abcdefgh', 'abcdefghij'])('is abcdefghij'), 'is ***');
  });

  it('hides a secret with signs of patterns, and one that no URL can hold', () => {
    assert.equal(redactor(['$&$1$(a|b)[^c]\\'])('x $&$1$(a|b)[^c]\\ y'), 'x *** y');
    assert.equal(redactor(['half\ud800-way'])('x half\ud800-way y'), 'x *** y');
  });

  it('returns the first 512 characters, and nothing of a secret across their end', () => {
    const secret = 's3cret-key-'.repeat(20);
    const clean = redactor([secret])(`${'x'.repeat(500)}${secret}${'y'.repeat(100_000)}`);
    assert.equal(clean, `${'x'.repeat(500)}***${'y'.repeat(9)}…`);
    assert.equal(redact('x'.repeat(513)), `${'x'.repeat(512)}…`);
    assert.equal(redact('x'.repeat(512)), 'x'.repeat(512));
  });
});

describe('a value from outside in an error', () => {
  const shown: [value: unknown, text: string][] = [
    ['../x', '"../x"'],
    ['', 'empty'],
    [NaN, 'NaN'],
    [undefined, 'undefined'],
    [null, 'null'],
    [12n, '12n'],
    [[1], 'an array'],
    [Buffer.from('secret'), 'a Buffer'],
    [new Date(), 'a Date'],
    [{ a: 1 }, 'an object'],
    [Symbol('x'), 'a symbol'],
    ['a\r\nb\0c', '"a��b�c"'],
    ['\u2028\u2029\x1b[31m', '"���[31m"'],
    ['\ud800', '"�"'],
    ['a\u202eb\u2066c\u200bd\ufeffe\u00adf\u061cg', '"a�b�c�d�e�f�g"'],
    ['\u{e0041}\u3164\u115f\u2800x', '"����x"'],
    ['a\u00a0b\u3000c', '"a b c"'],
    ['x'.repeat(100), `"${'x'.repeat(60)}…"`],
  ];
  for (const [value, text] of shown) {
    it(`is shown on one line: ${text}`, () => assert.equal(show(value), text));
  }

  it('is cut without leaving half an emoji', () => {
    const cut = oneLine(`${'x'.repeat(9)}😀😀`, 10);
    assert.ok(cut.isWellFormed(), JSON.stringify(cut));
    assert.equal(oneLine('x'.repeat(10), 10), 'x'.repeat(10));
    assert.equal(oneLine('x'.repeat(11), 10), `${'x'.repeat(10)}…`);
  });
});
