import assert from 'node:assert/strict';
import { Cleaner } from '../../../src/recording/clean';

describe('the secrets of a recording', () => {
  const [short, long] = ['Wm3-kéy', 'Wm3-kéy/and-more'];
  const cleaner = new Cleaner([short, long], false);

  it('are hidden as a whole, though one begins with another', () => {
    const bytes = cleaner.bytes(Buffer.from(`a ${long} b ${short} c`));
    assert.match(String(bytes), /^a \*+ b \*+ c$/);
    assert.equal(cleaner.text(`a ${long} b ${short} c`), 'a *** b *** c');
  });

  it('are hidden though they overlap', () => {
    const two = new Cleaner(['abcd1', '1xyz9'], false);
    assert.equal(String(two.bytes(Buffer.from('xabcd1xyz9x'))), 'x*********x');
    assert.equal(two.text('xabcd1xyz9x'), 'x***x');
  });

  it('are hidden in any case, and encoded in hexadecimal and Base64', () => {
    const encoded = Buffer.from(`..${long}..`);
    for (const text of [long.toUpperCase(), encoded.toString('hex'), encoded.toString('base64')])
      assert.match(String(cleaner.bytes(Buffer.from(text))), /^[\w+/=]{0,4}\*{15,}[\w+/=]{0,4}$/);
    assert.equal(cleaner.bytes(Buffer.from('nothing of it')), undefined);
  });
});
