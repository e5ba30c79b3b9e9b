import assert from 'node:assert/strict';
import { decodeGbk, encodeGbk } from '../../../src/simulator/encoding';

describe('simulator: GBK', () => {
  it('encodes what its standard says', () => {
    for (const [text, hex] of [
      ['AT+GMR\r\n', '41542b474d520d0a'],
      ['中文', 'd6d0cec4'],
      ['温度', 'cec2b6c8'],
      ['，。', 'a3aca1a3'],
      ['', ''],
    ] as const) {
      assert.equal(encodeGbk(text)?.toString('hex'), hex);
    }
  });

  it('gives back each character of the range that GBK covers whole', () => {
    for (let point = 0x4e00; point <= 0x9fa5; point++) {
      const character = String.fromCodePoint(point);
      const bytes = encodeGbk(character);
      assert.ok(bytes?.length === 2 && decodeGbk(bytes) === character, character);
    }
  });

  it('knows what GBK does not have', () => {
    for (const text of ['😀', '€', 'ĳ', '\u0080', '\uE000', '\uFFFD', '\uD800']) {
      assert.equal(encodeGbk(`a${text}`), undefined, text);
    }
  });
});
