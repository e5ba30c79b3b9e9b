import assert from 'node:assert/strict';
import { decodeGbk, encodeGbk, hasGbk } from '../../../src/util/gbk';

const hex = (text: string): string | undefined => {
  const encoded = encodeGbk(text);
  return 'bytes' in encoded ? encoded.bytes.toString('hex') : undefined;
};

describe('GBK', () => {
  const known: [text: string, bytes: string][] = [
    ['', ''],
    ['ON\r\n\0', '4f4e0d0a00'],
    ['你好', 'c4e3bac3'],
    ['温度=21℃', 'cec2b6c83d3231a1e6'],
    // Newer versions of Node.js read a3a0 as the same space.
    ['　、。', 'a1a1a1a2a1a3'],
    ['丂镕', '8140e946'],
    ['〇', 'a996'],
    ['—é', 'a1aaa8a6'],
  ];
  for (const [text, bytes] of known) {
    it(`writes ${JSON.stringify(text)} as ${bytes}, and reads it`, () => {
      assert.equal(hex(text), bytes);
      assert.equal(decodeGbk(Buffer.from(bytes, 'hex')), text);
    });
  }

  it('has at least 21,791 characters of two bytes, and reads what it writes', () => {
    assert.ok(hasGbk());
    let count = 0;
    for (let code = 0x80; code <= 0xffff; code++) {
      const encoded = encodeGbk(String.fromCharCode(code));
      if (!('bytes' in encoded)) continue;
      count++;
      assert.equal(decodeGbk(encoded.bytes)?.charCodeAt(0), code);
    }
    // Newer versions of Node.js know some that later standards have added.
    assert.ok(count >= 21_791, String(count));
  });

  for (const bytes of ['ff', 'aaa1', 'c4', 'c4e3ba', 'c420', 'c47f']) {
    it(`does not read ${bytes}`, () => {
      assert.equal(decodeGbk(Buffer.from(bytes, 'hex')), undefined);
    });
  }

  for (const [text, foreign] of [
    ['好한', '한'],
    ['a😀', '😀'],
    ['\ue000', '\ue000'],
    ['\ufffd', '\ufffd'],
  ]) {
    it(`does not have ${foreign}`, () => {
      assert.deepEqual(encodeGbk(text!), { foreign });
    });
  }
});
