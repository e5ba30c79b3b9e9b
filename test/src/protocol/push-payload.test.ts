import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { parseFormat, pushBytes, pushMessage } from '../../../src/protocol/values';
import { clientOf, simulator } from '../support/client';
import { failure, thrown } from '../support/failure';

describe('the format of a push', () => {
  for (const bad of ['', 'msg', 'MSG ', 'toString', null, undefined, 1, ['MSG']]) {
    it(`cannot be ${JSON.stringify(bad)}`, () => {
      assert.match(thrown(() => parseFormat(bad), 'INVALID_INPUT').message, /MSG, HEX, AT, LUA/);
    });
  }
});

describe('a message to push as text', () => {
  const good: [what: string, value: unknown, text: string][] = [
    ['empty text', '', ''],
    ['text with NUL, emoji and line ends', 'a\0b😀\r\nc', 'a\0b😀\r\nc'],
    ['a number', 1.5, '1.5'],
    ['a boolean', false, 'false'],
    ['an object, as JSON', { on: true, to: 'ä' }, '{"on":true,"to":"ä"}'],
    ['an object without a prototype, as JSON', { __proto__: null, a: 1 }, '{"a":1}'],
    ['a Date, as JSON', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['a Buffer of UTF-8', Buffer.from('grün'), 'grün'],
    ['an ArrayBuffer', new Uint8Array([0x41, 0x42]).buffer, 'AB'],
    [
      'a view of a part of one',
      new DataView(new Uint8Array([0x41, 0x42, 0x43]).buffer, 1, 2),
      'BC',
    ],
    ['a view of wider elements', new Uint16Array([0x4241]), 'AB'],
    ['bytes that a function node has made', runInNewContext('new Uint8Array([65])'), 'A'],
  ];
  for (const [what, value, text] of good) {
    it(`can be ${what}`, () => {
      for (const format of ['MSG', 'AT', 'LUA'] as const) {
        assert.equal(pushMessage(value, format), text);
      }
      assert.deepEqual(pushBytes(value, 'MSG'), Buffer.from(text));
    });
  }

  const circular: unknown[] = [];
  circular.push(circular);
  const bad: [what: string, value: unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['NaN', NaN],
    ['infinite', -Infinity],
    ['a BigInt', 1n],
    ['a circular object', circular],
    ['an object with a BigInt', { a: 1n }],
    ['an object whose JSON is nothing', { toJSON: () => undefined }],
    ['half a surrogate pair', 'a\ud800b'],
    ['the other half', '\udc00'],
    ['a Buffer that is not UTF-8', Buffer.from([0xc3, 0x28])],
  ];
  for (const [what, value] of bad) {
    it(`cannot be ${what}`, () => {
      thrown(() => pushMessage(value, 'MSG'), 'INVALID_INPUT');
      thrown(() => pushBytes(value, 'MSG'), 'INVALID_INPUT');
    });
  }

  it('has an error of its own if it is circular', () => {
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

  for (const bad of ['0', '0g', '00\n', '0x00', '００', 1, null, undefined, [0]]) {
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

  for (const bad of ['QQ', '~~~~', 'QQ==\n', 'AP_-', 1, null, undefined, {}]) {
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

describe('text to push over the channel in GBK', () => {
  it('is encoded, and bytes are not', () => {
    assert.equal(pushBytes('温度', 'MSG', 'gbk').toString('hex'), 'cec2b6c8');
    assert.equal(pushBytes({ 我: 1 }, 'MSG', 'gbk').toString('hex'), '7b22ced2223a317d');
    assert.equal(pushBytes('00ff', 'HEX', 'gbk').toString('hex'), '00ff');
    assert.equal(pushBytes('AP8=', 'B64', 'gbk').toString('hex'), '00ff');
  });

  it('is INVALID_INPUT with a character that GBK does not have, which is named', () => {
    const { message } = thrown(() => pushBytes('温度 😀', 'MSG', 'gbk'), 'INVALID_INPUT');
    assert.match(message, /"😀" \(U\+1F600\)/);
  });
});

describe('a message that is too long to be sent', () => {
  // The longest text of V8: whatever is made of it is an error of its own.
  const text = 'a'.repeat(2 ** 29 - 24);
  const tooLong = 'a'.repeat(65 * 2 ** 20);
  const long: [what: string, value: unknown, format: 'MSG' | 'HEX' | 'B64'][] = [
    ['text', text, 'MSG'],
    ['hex digits', text, 'HEX'],
    ['Base64', text, 'B64'],
    ['an object', { text: tooLong }, 'MSG'],
    ['a Buffer whose hex digits are', Buffer.alloc(33 * 1024 * 1024), 'HEX'],
    ['a text whose UTF-8 is', 'ä'.repeat(33 * 1024 * 1024), 'MSG'],
  ];
  for (const [what, value, format] of long) {
    it(`is INVALID_INPUT if it is ${what}`, () => {
      thrown(() => pushMessage(value, format), 'INVALID_INPUT');
      if (format !== 'B64') thrown(() => pushBytes(value, format), 'INVALID_INPUT');
    });
  }

  it('is INVALID_INPUT of a call, too, and of what the server API takes', async () => {
    const { baseUrl, requests } = await simulator();
    const client = clientOf(baseUrl);
    await failure(client.push('10000001', tooLong), 'INVALID_INPUT');
    await failure(client.pushToApp(tooLong), 'INVALID_INPUT');
    await failure(client.rtStatus('10000001', tooLong), 'INVALID_INPUT');
    await failure(client.serverPassthrough('1', { text: tooLong }), 'INVALID_INPUT');
    await failure(client.serverUploads({ page: tooLong }), 'INVALID_INPUT');
    assert.equal(requests.length, 0);
  });
});
