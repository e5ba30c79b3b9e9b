import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { signServerApi, type ServerApiRequest } from '../../../src/protocol/signing';

interface Vector {
  what: string;
  request: ServerApiRequest;
  password: string;
  /** The exact text that is hashed, written by hand after section 5.1. */
  text: string;
  /** Of `printf %s '<text>' | md5sum`. */
  md5: string;
}

const KEY = 'Prod-Key';
const PASSWORD = 'Pass-WÖRD';

const VECTORS: Vector[] = [
  {
    what: 'a GET, lowercased as a whole, the password and its umlaut included',
    request: { method: 'GET', path: '/api/server/devices', key: KEY, timestamp: 1700000000 },
    password: PASSWORD,
    text: 'get/api/server/deviceskey=prod-keytimestamp=1700000000pass-wörd',
    md5: 'c9144e6dc47ce87c6b7c6699846e8a35',
  },
  {
    what: 'a PUT to a path with upper case',
    request: { method: 'PUT', path: '/api/server/devices/ABC-01', key: KEY, timestamp: 1700000000 },
    password: PASSWORD,
    text: 'put/api/server/devices/abc-01key=prod-keytimestamp=1700000000pass-wörd',
    md5: 'ae8d75ddb3b30e35e6916c76dec2776f',
  },
  {
    what: '&, =, % and + in key and password, which stay as they are',
    request: { method: 'POST', path: '/api/server/x', key: 'K&=%+', timestamp: '1700000000' },
    password: 'P&=%+',
    text: 'post/api/server/xkey=k&=%+timestamp=1700000000p&=%+',
    md5: 'aaeaebf7fc72a9bafa263979cbce705f',
  },
  {
    what: 'empty key and password',
    request: { method: 'GET', path: '/api/server/up/messages', key: '', timestamp: 0 },
    password: '',
    text: 'get/api/server/up/messageskey=timestamp=0',
    md5: 'fab8c44adc204c1b1891e8ff0471b7f9',
  },
];

describe('the signature of the server API (section 5.1)', () => {
  for (const { what, request, password, text, md5 } of VECTORS) {
    it(`covers ${what}`, () => {
      assert.equal(createHash('md5').update(text).digest('hex'), md5);
      assert.equal(signServerApi(request, password), md5);
    });
  }

  it('does not depend on the case of the password, unlike that of the open API on its key', () => {
    const request = { method: 'GET', path: '/api/server/devices', key: KEY, timestamp: 1 };
    assert.equal(signServerApi(request, 'SECRET'), signServerApi(request, 'secret'));
  });
});
