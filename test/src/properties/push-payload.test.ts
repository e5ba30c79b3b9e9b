import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseFormat, pushBytes, pushMessage } from '../../../src/input/push-payload';
import { PUSH_FORMATS } from '../../../src/types';
import { anyBytes, anyText, goodText, holds, textOf } from '../support/fuzz';
import { anything, reading } from '../support/typed';
import { base64Bytes } from './base64-by-hand';
import { utf8 } from '../../../tooling/sign-by-hand';

const HEX = /^([0-9a-fA-F]{2})*$/;
const TEXT_FORMATS = ['MSG', 'AT', 'LUA'] as const;

const hexLike = fc.string({
  unit: fc.constantFrom(...Array.from('0123456789abcdefABCDEF  gz')),
  maxLength: 12,
});
const base64Like = textOf('AQZaz09+/==- ', { maxLength: 8 });
const messages = fc.oneof(anything, anyText, anyBytes, hexLike, base64Like);

const isBytes = (value: unknown): boolean =>
  ArrayBuffer.isView(value) || value instanceof ArrayBuffer;

describe('a pushed message, made from any value', () => {
  holds(
    'is the same binary data',
    200,
    fc.property(anyBytes, (bytes) => {
      assert.deepEqual(Buffer.from(pushMessage(bytes, 'HEX'), 'hex'), bytes);
      assert.deepEqual(base64Bytes(pushMessage(bytes, 'B64')), bytes);
      assert.deepEqual(pushBytes(bytes, 'HEX'), bytes);
      assert.deepEqual(pushBytes(bytes, 'B64'), bytes);
    }),
  );

  holds(
    'is the same text, and the same bytes over the channel',
    300,
    fc.property(goodText, (text) => {
      for (const format of TEXT_FORMATS) {
        assert.equal(pushMessage(text, format), text);
        assert.equal(pushMessage(utf8(text), format), text);
      }
      assert.deepEqual(pushBytes(text, 'MSG'), utf8(text));
    }),
  );

  holds(
    'is refused as text if UTF-8 cannot carry it',
    300,
    fc.property(anyText, anyBytes, (text, bytes) => {
      const carried = reading(() => pushMessage(text, 'MSG'));
      assert.equal(carried !== undefined, utf8(text).toString() === text);
      const read = reading(() => pushMessage(bytes, 'MSG'));
      assert.equal(read !== undefined, Buffer.from(bytes.toString('utf8')).equals(bytes));
    }),
  );

  holds(
    'is hex digits in pairs, or is refused',
    1000,
    fc.property(messages, (value) => {
      const message = reading(() => pushMessage(value, 'HEX'))?.value;
      if (typeof value === 'string') {
        const digits = value.split(' ').join('');
        assert.equal(message, HEX.test(digits) ? digits : undefined);
      } else assert.equal(message !== undefined, isBytes(value));
      const bytes = reading(() => pushBytes(value, 'HEX'))?.value;
      assert.equal(bytes?.toString('hex'), message?.toLowerCase());
    }),
  );

  holds(
    'is Base64, or is refused',
    1000,
    fc.property(messages, (value) => {
      const message = reading(() => pushMessage(value, 'B64'))?.value;
      if (typeof value === 'string') assert.equal(message, base64Bytes(value) ? value : undefined);
      else assert.equal(message !== undefined, isBytes(value));
      const bytes = reading(() => pushBytes(value, 'B64'))?.value;
      assert.deepEqual(bytes, message === undefined ? undefined : base64Bytes(message));
    }),
  );

  holds(
    'is text that UTF-8 can carry, or is refused',
    1000,
    fc.property(messages, fc.constantFrom(...TEXT_FORMATS), (value, format) => {
      const message = reading(() => pushMessage(value, format))?.value;
      if (message === undefined) return;
      assert.equal(utf8(message).toString('utf8'), message);
      if (typeof value !== 'object' || isBytes(value)) return;
      // The message is its JSON, whatever there is in it.
      assert.deepEqual(JSON.parse(message), JSON.parse(JSON.stringify(value)));
    }),
  );

  holds(
    'is never a command over the channel',
    100,
    fc.property(messages, fc.constantFrom('AT' as const, 'LUA' as const), (value, format) => {
      assert.equal(
        reading(() => pushBytes(value, format)),
        undefined,
      );
    }),
  );

  holds(
    'has one of the five formats',
    200,
    fc.property(
      fc.oneof(anything, anyText, fc.constantFrom('msg', 'HEX ', ...PUSH_FORMATS)),
      (value) => {
        const format = reading(() => parseFormat(value))?.value;
        assert.equal(format, PUSH_FORMATS.includes(value as 'MSG') ? value : undefined);
      },
    ),
  );
});
