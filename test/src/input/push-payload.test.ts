import assert from 'node:assert/strict';
import { parseFormat, pushBytes, pushMessage } from '../../../src/input/push-payload';
import { BAD_MESSAGES } from '../support/bad-values';
import { thrown } from '../support/failure';

describe('the format of a push', () => {
  for (const format of ['MSG', 'HEX', 'AT', 'LUA', 'B64']) {
    it(`can be ${format}`, () => assert.equal(parseFormat(format), format));
  }
  for (const bad of ['', 'msg', 'MSG ', 'TXT', 'toString', null, undefined, 1, ['MSG']]) {
    it(`cannot be ${JSON.stringify(bad)}`, () => {
      assert.match(thrown(() => parseFormat(bad), 'INVALID_INPUT').message, /MSG, HEX, AT, LUA/);
    });
  }
});

describe('a message to push as text', () => {
  const good: [what: string, value: unknown, text: string][] = [
    ['text', 'LED on', 'LED on'],
    ['empty text', '', ''],
    ['text with NUL, emoji and line ends', 'a\0b😀\r\nc', 'a\0b😀\r\nc'],
    ['a number', 1.5, '1.5'],
    ['a boolean', false, 'false'],
    ['an object, as JSON', { on: true, to: 'ä' }, '{"on":true,"to":"ä"}'],
    ['an object without a prototype, as JSON', { __proto__: null, a: 1 }, '{"a":1}'],
    ['an array, as JSON', [1, 'a'], '[1,"a"]'],
    ['a Date, as JSON', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['a Buffer of UTF-8', Buffer.from('grün'), 'grün'],
    ['bytes of UTF-8', new Uint8Array([0x41]), 'A'],
  ];
  for (const [what, value, text] of good) {
    it(`can be ${what}`, () => {
      for (const format of ['MSG', 'AT', 'LUA'] as const) {
        assert.equal(pushMessage(value, format), text);
      }
      assert.deepEqual(pushBytes(value, 'MSG'), Buffer.from(text));
    });
  }

  for (const [what, value] of BAD_MESSAGES) {
    it(`cannot be ${what}`, () => {
      thrown(() => pushMessage(value, 'MSG'), 'INVALID_INPUT');
      thrown(() => pushBytes(value, 'MSG'), 'INVALID_INPUT');
    });
  }

  it('has an error of its own if it is circular', () => {
    const circular: unknown[] = [];
    circular.push(circular);
    assert.match(thrown(() => pushMessage(circular, 'MSG'), 'INVALID_INPUT').message, /circular/);
  });
});

describe('a message to push as hex', () => {
  it('may be a Buffer, or digits in pairs with or without spaces, in upper or lower case', () => {
    assert.equal(pushMessage(Buffer.from([0, 255, 16]), 'HEX'), '00ff10');
    assert.equal(pushMessage(' 00 fF  10 ', 'HEX'), '00fF10');
    assert.equal(pushMessage('', 'HEX'), '');
    assert.deepEqual(pushBytes('00 FF', 'HEX'), Buffer.from([0, 255]));
  });

  for (const bad of ['0', '0g', 'x', '00\n', '0x00', '００', 1, true, null, undefined, [0], {}]) {
    it(`cannot be ${JSON.stringify(bad)}`, () => {
      assert.match(thrown(() => pushMessage(bad, 'HEX'), 'INVALID_INPUT').message, /HEX/);
      thrown(() => pushBytes(bad, 'HEX'), 'INVALID_INPUT');
    });
  }
});

describe('a message to push as Base64', () => {
  it('may be a Buffer, or Base64, which is not changed', () => {
    assert.equal(pushMessage(Buffer.from([0, 255, 254]), 'B64'), 'AP/+');
    assert.equal(pushMessage('AP/+', 'B64'), 'AP/+');
    assert.deepEqual(pushBytes('QQ==', 'B64'), Buffer.from('A'));
  });

  for (const bad of ['QQ', 'Q', '~~~~', 'QQ==\n', 'AP_-', 'ŁŁŁŁ', 1, null, undefined, {}]) {
    it(`cannot be ${JSON.stringify(bad)}`, () => {
      assert.match(thrown(() => pushMessage(bad, 'B64'), 'INVALID_INPUT').message, /B64/);
      thrown(() => pushBytes(bad, 'B64'), 'INVALID_INPUT');
    });
  }
});

describe('a push over the channel', () => {
  for (const format of ['AT', 'LUA'] as const) {
    it(`refuses the format ${format}, which is a command`, () => {
      const { message } = thrown(() => pushBytes('x', format), 'INVALID_INPUT');
      assert.match(message, /over HTTP/);
    });
  }
});
