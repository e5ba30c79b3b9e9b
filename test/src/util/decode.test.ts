import assert from 'node:assert/strict';
import { decodeBase64, decodeLenientBase64, decodeUpload } from '../../../src/util/decode';

const nested = (levels: number): Buffer =>
  Buffer.from('{"a":'.repeat(levels) + '1' + '}'.repeat(levels));
const row = Buffer.from(`[${'[],'.repeat(1_000_000)}1]`);
const binary = Buffer.from([0xff, 0x00, 0x7b]);

describe('the payload of an upload', () => {
  const detected: [what: string, bytes: Buffer, payload: unknown][] = [
    ['a JSON object', Buffer.from('{"t":21.5}'), { t: 21.5 }],
    ['a JSON array after space', Buffer.from(' \r\n\t[1,2]'), [1, 2]],
    ['text that is a number, as text', Buffer.from('21.5'), '21.5'],
    ['text that is true, as text', Buffer.from('true'), 'true'],
    ['text that begins like JSON, as text', Buffer.from('{"t":'), '{"t":'],
    ['text as C has it', Buffer.from('t=21.5;h=40\0'), 't=21.5;h=40'],
    ['text that fills a buffer', Buffer.from('hi\r\n\0\0\0'), 'hi\r\n'],
    ['text with a line end behind its NULs', Buffer.from('hi \0\0\r\n\0\n'), 'hi '],
    ['text with a NUL inside, whole', Buffer.from('a\0b\0 '), 'a\0b\0 '],
    ['JSON with a line end behind its NUL', Buffer.from('{"t":21.5}\0\n'), { t: 21.5 }],
    ['JSON behind a byte order mark', Buffer.from('\uFEFF {"t":21.5}'), { t: 21.5 }],
    ['text behind a byte order mark, whole', Buffer.from('\uFEFFt=21.5'), '\uFEFFt=21.5'],
    [
      'JSON with a long integer, which loses no digit',
      Buffer.from('{"sim":8949000000000000012,"t":2}'),
      { sim: '8949000000000000012', t: 2 },
    ],
    ['bytes that are UTF-8 by accident, whole', Buffer.from([1, 2, 0, 0]), '\u0001\u0002\0\0'],
    ['NULs alone, whole', Buffer.from([0, 0]), '\0\0'],
    ['nothing, as empty text', Buffer.alloc(0), ''],
    ['space alone, as text', Buffer.from('  '), '  '],
    ['bytes that are not UTF-8', binary, binary],
    ['JSON of 100 levels', nested(100), JSON.parse(nested(100).toString())],
    ['JSON nested deeper, as text', nested(101), nested(101).toString()],
    ['JSON of a million arrays and more, as text', row, row.toString()],
  ];
  for (const [what, bytes, payload] of detected) {
    it(`is detected as ${what}`, () => {
      assert.deepEqual(decodeUpload(bytes, 'auto-detect'), payload);
    });
  }

  const gbk = Buffer.from('7b22ced2223a22c4e3227d', 'hex');
  const inGbk: [what: string, bytes: Buffer, payload: unknown][] = [
    ['JSON', gbk, { 我: '你' }],
    ['text', Buffer.from('cec2b6c8', 'hex'), '温度'],
    ['UTF-8, which comes first', Buffer.from('温度'), '温度'],
    ['bytes that are neither', binary, binary],
  ];
  for (const [what, bytes, payload] of inGbk) {
    it(`is detected in GBK as ${what}`, () => {
      assert.deepEqual(decodeUpload(bytes, 'auto-detect', 'gbk'), payload);
    });
  }

  it('is GBK only where that is set, and has the form of the datatype', () => {
    assert.deepEqual(decodeUpload(gbk, 'auto-detect'), gbk);
    assert.equal(decodeUpload(gbk, 'utf8', 'gbk'), '{"我":"你"}');
    assert.deepEqual(decodeUpload(gbk, 'json', 'gbk'), { 我: '你' });
    assert.equal(decodeUpload(gbk, 'buffer', 'gbk'), gbk);
    assert.equal(decodeUpload(gbk, 'base64', 'gbk'), gbk.toString('base64'));
  });

  it('has its NULs if bytes are asked for', () => {
    const bytes = Buffer.from('{"t":21.5}\0');
    assert.equal(decodeUpload(bytes, 'buffer'), bytes);
    assert.equal(decodeUpload(bytes, 'base64'), bytes.toString('base64'));
    assert.deepEqual(decodeUpload(bytes, 'json'), { t: 21.5 });
    assert.equal(decodeUpload(bytes, 'utf8'), '{"t":21.5}');
  });

  it('has the form of the datatype', () => {
    const bytes = Buffer.from('{"a":"ä"}');
    assert.equal(decodeUpload(bytes, 'buffer'), bytes);
    assert.equal(decodeUpload(bytes, 'utf8'), '{"a":"ä"}');
    assert.equal(decodeUpload(bytes, 'base64'), bytes.toString('base64'));
    assert.deepEqual(decodeUpload(bytes, 'json'), { a: 'ä' });
    assert.equal(decodeUpload(Buffer.from('21.5'), 'json'), 21.5);
  });

  it('fails as JSON if it is not JSON', () => {
    assert.throws(() => decodeUpload(Buffer.from('{'), 'json'), SyntaxError);
    assert.throws(() => decodeUpload(Buffer.alloc(0), 'json'), SyntaxError);
  });

  it('fails as JSON that a flow could not handle', () => {
    assert.throws(() => decodeUpload(nested(101), 'json'), /nested deeper than 100 levels/);
    assert.throws(() => decodeUpload(row, 'json'), /more than 1,000,000 arrays and objects/);
  });
});

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
