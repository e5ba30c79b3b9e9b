import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeUpload } from '../../../src/util/decode';
import { anyBytes, goodText, holds } from '../support/fuzz';
import { jsonText } from './json-text';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The contract's words: a JSON object or array, else text if it is valid UTF-8, else the bytes. */
function detected(bytes: Buffer): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return bytes;
  }
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}

const uploads = fc.oneof(
  anyBytes,
  goodText.map((text) => Buffer.from(text)),
  jsonText.map(({ text }) => Buffer.from(text)),
  // JSON that is cut off, has a byte order mark before it, or a byte too many.
  fc.tuple(jsonText, fc.nat(), anyBytes).map(([{ text }, end, more]) => {
    return Buffer.concat([Buffer.from(text).subarray(0, end % 40), more.subarray(0, 2)]);
  }),
  jsonText.map(({ text }) => Buffer.from(`\ufeff${text}`)),
);

describe('the bytes of an upload, whatever they are', () => {
  holds(
    'become JSON, text or bytes, as detected',
    1000,
    fc.property(uploads, (bytes) => {
      assert.deepEqual(decodeUpload(bytes, 'auto-detect'), detected(bytes));
    }),
  );

  holds(
    'stay the same as a buffer and in Base64',
    200,
    fc.property(uploads, (bytes) => {
      assert.equal(decodeUpload(bytes, 'buffer'), bytes);
      assert.deepEqual(Buffer.from(decodeUpload(bytes, 'base64') as string, 'base64'), bytes);
    }),
  );

  holds(
    'always become text if that is requested',
    200,
    fc.property(uploads, (bytes) => {
      assert.equal(
        decodeUpload(bytes, 'utf8'),
        new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
      );
    }),
  );

  holds(
    'become JSON, or an error that they are not JSON',
    500,
    fc.property(uploads, (bytes) => {
      let value: unknown;
      try {
        value = decodeUpload(bytes, 'json');
      } catch (error) {
        assert.ok(error instanceof SyntaxError);
        return;
      }
      assert.deepEqual(value, JSON.parse(bytes.toString('utf8')));
    }),
  );
});
