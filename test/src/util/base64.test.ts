import assert from 'node:assert/strict';
import { decodeBase64, decodeLenientBase64 } from '../../../src/util/decode';

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
    ['with padding in the middle', 'QQ==QUJD'],
    ['with a space', 'QUJ D'],
    ['with a line end', 'QUJD\n'],
    ['with characters of another alphabet', '-_-_'],
    ['with characters of no alphabet', '~~~~'],
    ['with a character that looks like one in its low byte', 'ŁŁŁŁ'],
    ['with half a surrogate pair', 'QUJ\ud800'],
  ];
  for (const [what, text] of bad) {
    it(`is refused ${what}`, () => assert.equal(decodeBase64(text), undefined));
  }
});

describe('Base64 of an event, whose form the document does not show', () => {
  const lines = (text: string, end: string): string => text.replace(/(.{4})/g, `$1${end}`);
  const bytes = Buffer.from(Array.from({ length: 259 }, (_, index) => (index * 251) % 256));

  for (const length of [0, 1, 2, 3, 76, 77, 78, 257, 258, 259]) {
    it(`of ${length} bytes may lack its padding, have line ends, or the alphabet for URLs`, () => {
      const body = bytes.subarray(0, length);
      const text = body.toString('base64');
      const forms = [
        text,
        text.replace(/=+$/, ''),
        body.toString('base64url'),
        text.replaceAll('+', '-').replaceAll('/', '_'),
        lines(text, '\n'),
        lines(text, '\r\n'),
        `${text}\n`,
        lines(body.toString('base64url'), '\r\n'),
      ];
      for (const form of forms) assert.deepEqual(decodeLenientBase64(form), body, form);
    });
  }

  const bad = ['Q', 'Q=', 'Q==', 'Q===', 'QQ=', 'QQ===', '=', 'QQ==QUJD', 'QUJ D', 'QUJD Q', 'Q\tUJD', '~~~~', 'ŁŁŁŁ', 'QUJ\ud800', 'QUJD.', '\ufeffQUJD']; // prettier-ignore
  for (const text of bad) {
    it(`is refused as ${JSON.stringify(text)}`, () =>
      assert.equal(decodeLenientBase64(text), undefined));
  }
});
