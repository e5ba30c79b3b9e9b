import assert from 'node:assert/strict';
import { redactor } from '../../../src/http/redact';
import { oneLine, show } from '../../../src/util/show';

describe('the redaction of what the service says', () => {
  const redact = redactor(['App-Key/Ä', undefined, 'PassWord']);

  it('hides the secrets, as they are, lowercased and percent-encoded', () => {
    const said = 'a App-Key/Ä b app-key/ä c App-Key%2F%C3%84 d password e';
    assert.equal(redact(said), 'a *** b *** c *** d *** e');
  });

  it('hides them as a form, a URL in lower case or JSON has them', () => {
    const secret = redactor(['Ab/ "C\\~']);
    for (const said of ['Ab%2F+%22C%5C%7E', 'ab%2f%20%22c%5c~', 'Ab/ \\"C\\\\~', 'AB/ "C\\~']) {
      assert.equal(secret(`it is ${said}.`), 'it is ***.');
    }
    assert.equal(redactor(['Ärger'])('\\u00e4RGER'), '***');
  });

  it('hides whatever looks like a signature', () => {
    assert.equal(redact('sign=0123456789abcdef0123456789ABCDEF!'), 'sign=***!');
  });

  it('leaves everything else alone', () => {
    assert.equal(redact('device 10000001 is offline'), 'device 10000001 is offline');
  });

  it('hides a whole key that begins like a signature', () => {
    const key = '0123456789abcdef0123456789abcdef-rest';
    assert.equal(redactor([key])(`key ${key}`), 'key ***');
  });

  it('hides a whole key that another key begins with', () => {
    assert.equal(redactor(['abcdef', 'abcdefgh'])('is abcdefgh'), 'is ***');
  });

  it('hides a secret with $ signs, and one that no URL can hold', () => {
    assert.equal(redactor(['$&$1$'])('x $&$1$ y'), 'x *** y');
    assert.equal(redactor(['half\ud800'])('x half\ud800 y'), 'x *** y');
  });

  it('hides one that is encoded twice, or as HTML has it', () => {
    const secret = redactor(['a/"b\\ß']);
    const json = JSON.stringify('a/"b\\ß').slice(1, -1);
    for (const said of [
      encodeURIComponent(encodeURIComponent('a/"b\\ß')),
      JSON.stringify(json).slice(1, -1),
      encodeURIComponent(json),
      'A/\\\\\\"B\\\\\\\\\\u00DF',
      'a&#47;&quot;b&#x5C;ß',
    ]) {
      assert.equal(secret(`it is ${said}.`), 'it is ***.');
    }
  });

  it('hides every part of secrets that overlap, and one within another', () => {
    assert.equal(redactor(['abab'])('x abababab y'), 'x *** y');
    assert.equal(redactor(['abcd', 'cdef'])('x abcdef y'), 'x *** y');
    assert.equal(redactor(['abcdefgh', 'cdef'])('x abcdefgh, cdef y'), 'x ***, *** y');
  });

  it('hides one wherever its encoding could begin', () => {
    assert.equal(redactor(['41 x'])('%41%20x'), '%***');
    assert.equal(redactor(['\\b"x'])('\\\\\\b\\"x').includes('b'), false);
  });

  /** Secrets in which each character may be read in several ways. */
  const AMBIGUOUS = ['\\', '%', '%25', '%5c', '+', ' ', 'a', '&amp;', '\\u005c', '\\"', 'ß', '😀'];

  it('takes time in proportion to the text, whatever the secret is', () => {
    for (const piece of AMBIGUOUS) {
      const secret = piece.repeat(64);
      const clean = redactor([secret])(`is:${piece.repeat(63)}! ${secret} ${'%\\'.repeat(5000)}`);
      assert.ok(clean.startsWith('is:') && clean.includes('***'), piece);
    }
  });

  /** The ways in which each character of a secret takes most room. */
  const LONG_FORMS: ((secret: string) => string)[] = [
    (secret) => secret,
    (secret) => encodeURIComponent(encodeURIComponent(secret)),
    (secret) =>
      Array.from(secret, (unit) => `&#${String(unit.codePointAt(0)).padStart(7, '0')};`).join(''),
  ];

  it('returns the first 512 characters, and no part of a secret that goes beyond them', () => {
    const secret = '密钥-Canary/Key';
    const redactOne = redactor([secret]);
    for (const form of LONG_FORMS) {
      const said = form(secret);
      for (let before = 511 - said.length; before < 512; before++) {
        const start = 'x'.repeat(before);
        const hidden =
          before + said.length > 512
            ? `${start}***…`
            : `${start}***${'y'.repeat(512 - before - said.length)}…`;
        assert.equal(redactOne(`${start}${said}${'y'.repeat(1e5)}`), hidden);
      }
      const behind = 'x'.repeat(512);
      assert.equal(redactOne(`${behind}${said}`), `${behind}…`);
    }
  });

  it('searches no further than a secret may reach, however long the text is', () => {
    const sign = '0123456789abcdef'.repeat(2);
    const start = 'x'.repeat(500);
    assert.equal(redact(`${start}${sign}${'%25'.repeat(1e6)}`), `${start}***…`);
  });

  describe('of a secret longer than 32 characters', () => {
    const long = 'Canary-Key/'.repeat(20);
    const redactLong = redactor([long]);

    it('hides all, in any form, and nothing after it', () => {
      const short = long.slice(0, 44);
      const redactShort = redactor([short]);
      for (const form of LONG_FORMS)
        assert.equal(redactShort(`{"key":"${form(short)}","wrong":1}`), '{"key":"***","wrong":1}');
      assert.equal(redactLong(`key ${long}! is wrong`), 'key ***! is wrong');
      assert.equal(redactor([short, `${short}!`])(`key ${short}!.`), 'key ***.');
    });

    it('decides by its beginning alone, so that the time does not depend on its length', () => {
      assert.equal(redactLong(`key ${long.slice(0, 32)}`), 'key ***');
      assert.equal(redactLong(`key ${long.slice(0, 100)}! is wrong`), 'key ***! is wrong');
      const other = `key ${long.slice(0, 31)}! is wrong`;
      assert.equal(redactLong(other), other);
    });

    it('hides one that differs from another only after its beginning', () => {
      const keys = [`${long}A`, `${long}Zz`];
      for (const key of keys) assert.equal(redactor(keys)(`key ${key}!`), 'key ***!');
    });

    it('hides all that may be read as one of 4095 backslashes', () => {
      const redactAll = redactor(['\\'.repeat(4095)]);
      assert.equal(redactAll('\\'.repeat(1e5)), '***…');
      assert.equal(redactAll(`${'\\'.repeat(40)} is wrong`), '*** is wrong');
      assert.equal(redactAll(`${'%5C'.repeat(40)} is wrong`), '*** is wrong');
    });
  });

  it('leaves ordinary words alone if a secret is one letter, or empty', () => {
    assert.equal(redactor(['e', ''])('the device'), 'the device');
  });
});

describe('a value from outside in an error', () => {
  const shown: [value: unknown, text: string][] = [
    ['../x', '"../x"'],
    ['', 'empty'],
    [1.5, '1.5'],
    [NaN, 'NaN'],
    [true, 'true'],
    [undefined, 'undefined'],
    [null, 'null'],
    [12n, '12n'],
    [[1], 'an array'],
    [Buffer.from('secret'), 'a Buffer'],
    [new Date(), 'a Date'],
    [{ a: 1 }, 'an object'],
    [() => 1, 'a function'],
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
