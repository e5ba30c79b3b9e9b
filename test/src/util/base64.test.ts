import assert from 'node:assert/strict';
import { decodeBase64 } from '../../../src/util/base64';

describe('Base64', () => {
  for (const bytes of ['', '\0', 'ab', 'abc', 'äöü', '\xff\xfe\xfb\xef'.repeat(50)]) {
    it(`decodes what was encoded: ${JSON.stringify(bytes.slice(0, 8))}`, () => {
      const buffer = Buffer.from(bytes, 'latin1');
      assert.deepEqual(decodeBase64(buffer.toString('base64')), buffer);
    });
  }

  const bad: [what: string, text: string][] = [
    ['without its padding', 'QQ'],
    ['with too much padding', 'QQ==='],
    ['padding alone', '===='],
    ['with three signs of padding', 'Q==='],
    ['with padding in the middle', 'QQ==QUJD'],
    ['with a space', 'QUJ D'],
    ['with a line end', 'QUJD\n'],
    ['with characters of another alphabet', '-_-_'],
    ['with characters of no alphabet', '~~~~'],
    ['with a character that looks like one in its low byte', 'ŁŁŁŁ'],
    ['with fullwidth letters', 'ＱＵＪＤ'],
    ['with half a surrogate pair', 'QUJ\ud800'],
  ];
  for (const [what, text] of bad) {
    it(`is refused ${what}`, () => assert.equal(decodeBase64(text), undefined));
  }
});
