import assert from 'node:assert/strict';
import { decodeGbk, encodeGbk, hasGbk } from '../../../src/util/gbk';

const hex = (text: string): string | undefined => {
  const encoded = encodeGbk(text);
  return 'bytes' in encoded ? encoded.bytes.toString('hex') : undefined;
};

describe('GBK', () => {
  const known: [text: string, bytes: string][] = [
    ['', ''],
    ['你好', 'c4e3bac3'],
    ['温度=21℃', 'cec2b6c83d3231a1e6'],
    ['丂镕', '8140e946'],
    ['〇', 'a996'],
  ];
  for (const [text, bytes] of known) {
    it(`writes ${JSON.stringify(text)} as ${bytes}, and reads it`, () => {
      assert.equal(hex(text), bytes);
      assert.equal(decodeGbk(Buffer.from(bytes, 'hex')), text);
    });
  }

  it('has 21,791 characters of two bytes, whatever the version of Node.js, each in both directions', () => {
    assert.ok(hasGbk());
    let count = 0;
    for (let pair = 0x8140; pair <= 0xfefe; pair++) {
      const bytes = Buffer.of(pair >> 8, pair & 0xff);
      const text = decodeGbk(bytes);
      // Two bytes of ASCII are two characters.
      if (text === undefined || text.length > 1) continue;
      count++;
      assert.equal(hex(text), bytes.toString('hex'));
    }
    assert.equal(count, 21_791);
  });

  for (const bytes of ['80', 'ff', 'c4', 'c4e3ba', 'c420', 'c47f', 'a2e3', 'aaa1', 'fe50']) {
    it(`does not read ${bytes}`, () => {
      assert.equal(decodeGbk(Buffer.from(bytes, 'hex')), undefined);
    });
  }

  for (const [text, foreign] of [
    ['好€', '€'],
    ['a😀', '😀'],
    ['\ue000', '\ue000'],
    ['\ufffd', '\ufffd'],
  ]) {
    it(`does not have ${foreign}`, () => {
      assert.deepEqual(encodeGbk(text!), { foreign });
    });
  }
});
