import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeBase64, decodeLenientBase64 } from '../../../src/util/base64';
import { anyBytes, anyText, holds } from '../support/fuzz';
import { base64Bytes, eventBytes } from './base64-by-hand';

/** The characters that carry whole bytes: those before the one that may hold bits that are left over. */
const whole = (text: string): string => text.replace(/.(=+)$/, '$1');

function check(text: string): void {
  const bytes = decodeBase64(text);
  assert.deepEqual(bytes, base64Bytes(text), text);
  if (bytes) assert.equal(whole(bytes.toString('base64')), whole(text));
  assert.deepEqual(decodeLenientBase64(text), eventBytes(text), text);
}

describe('Base64, compared with RFC 4648 written out', () => {
  holds(
    'returns any bytes that were encoded',
    300,
    fc.property(anyBytes, (bytes) => {
      assert.deepEqual(decodeBase64(bytes.toString('base64')), bytes);
    }),
  );

  holds('accepts no other text', 500, fc.property(anyText, check));

  holds(
    'accepts a changed text only if that is Base64, too',
    2000,
    fc.property(anyBytes, fc.nat(), fc.nat(2), anyText, (bytes, where, gone, put) => {
      const text = bytes.toString('base64');
      const at = where % (text.length + 1);
      check(text.slice(0, at) + put.slice(0, 2) + text.slice(at + gone));
    }),
  );

  it('is the same for every text of up to five of these characters', () => {
    const characters = ['A', 'Q', '/', '+', '=', '-', '_', ' ', '\n', 'Ł', '\ud800'];
    let texts = [''];
    let seen = 0;
    for (let length = 0; length <= 5; length++) {
      texts.forEach(check);
      seen += texts.length;
      if (length < 5) texts = texts.flatMap((text) => characters.map((each) => text + each));
    }
    assert.equal(seen, (11 ** 6 - 1) / 10);
  });
});
