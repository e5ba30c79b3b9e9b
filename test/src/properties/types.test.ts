import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bytesDecoder, DescriptionError, pairsDecoder } from '../../../src/fleet/types';
import { uploadText } from '../../../src/util/decode';
import { anyText, holds } from '../support/fuzz';

const toText = (bytes: Uint8Array): string | undefined => uploadText(Buffer.from(bytes), 'utf-8');

/** What the grammar is made of, in any order. */
const gibberish = fc
  .array(
    // prettier-ignore
    fc.constantFrom(
      'u8', 'i16be', 'u16', 'bit:3', 'hex:2', 'text:4', 'skip:1', 'hex:', '[2]', '[', ']', '[0]',
      ' ', ',', '\n', 'a', 'b', '__proto__', '/', '*', '+', '-', '10', '0', '.5', '1e5', '温',
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

describe('uploads of types, whatever is described', () => {
  const uploads = fc.array(fc.nat(255), { maxLength: 60 });

  holds(
    'as bytes, never throw, and a wrong description says where',
    2000,
    fc.property(fc.oneof(gibberish, anyText), uploads, (description, upload) => {
      try {
        bytesDecoder(description)(Uint8Array.from(upload), toText);
      } catch (error) {
        assert.ok(error instanceof DescriptionError);
        const at = error.problem.at ?? -1;
        assert.ok(at >= 0 && at <= description.length, `${description}: ${at}`);
      }
    }),
  );

  holds(
    'as pairs, never throw',
    1000,
    fc.property(anyText, anyText, anyText, (text, between, equals) => {
      try {
        const decoded = pairsDecoder(between, equals)(Buffer.from(text), toText);
        assert.ok('value' in decoded || 'problem' in decoded);
      } catch (error) {
        assert.ok(error instanceof DescriptionError);
      }
    }),
  );
});
