import assert from 'node:assert/strict';
import crypto, { createHash } from 'node:crypto';
import {
  canonicalParams,
  signOpenApi,
  signServerApi,
  type Params,
  type ServerApiRequest,
} from '../../../src/protocol/signing';
import { json } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { serving } from '../support/client';
import { failure } from '../support/failure';

const APPKEY = 'AppKey-Ä9';
const common = { appid: '10001', timestamp: '1700000000' };

interface Vector {
  what: string;
  method: string;
  params: Params;
  /** The exact text that is hashed, written by hand after the document. */
  text: string;
  /** Of `printf %s '<text>' | md5sum`. */
  md5: string;
}

/** After section 5.2. */
const VECTORS: Vector[] = [
  {
    what: 'upper case in the name and the value of a parameter',
    method: 'GET',
    params: { ...common, KEY: 'TempSensor' },
    text: 'gettimestamp=1700000000&key=tempsensor&appid=10001AppKey-Ä9',
    md5: '9b9bd4d74939f749a98034adcb667977',
  },
  {
    what: 'non-ASCII text in the body of a POST',
    method: 'POST',
    params: { devid: '10000001', message: 'Grüße ÄÖÜ 中文 😀', format: 'MSG', ...common },
    text: 'posttimestamp=1700000000&message=grüße äöü 中文 😀&format=msg&devid=10000001&appid=10001AppKey-Ä9',
    md5: '741735f47d5e16e5a5cdb0655f9bd859',
  },
  {
    what: '&, =, %, + and a space, which are not encoded',
    method: 'POST',
    params: { devid: '10000001', message: 'A&B=C%20D+E F', format: 'MSG', ...common },
    text: 'posttimestamp=1700000000&message=a&b=c%20d+e f&format=msg&devid=10000001&appid=10001AppKey-Ä9',
    md5: '3a251edcd1b4f5c18eb88178e30db0eb',
  },
  {
    what: 'a name that another one begins with: the values take no part in the order',
    method: 'GET',
    params: { a: 'z', a1: 'b' },
    text: 'geta1=b&a=zAppKey-Ä9',
    md5: '0dca736f3230ef756c42d0252f6997ba',
  },
  {
    what: 'a sign among the parameters, which takes no part in any case',
    method: 'GET',
    params: { ...common, sign: 'ffffffffffffffffffffffffffffffff', SIGN: 'x' },
    text: 'gettimestamp=1700000000&appid=10001AppKey-Ä9',
    md5: '44133f64e84a203ce52b0a2563ab60fd',
  },
];

describe('the signature of the open API (section 5.2)', () => {
  for (const { what, method, params, text, md5 } of VECTORS) {
    it(`covers ${what}`, () => {
      assert.equal(method.toLowerCase() + canonicalParams(params) + APPKEY, text);
      assert.equal(createHash('md5').update(text).digest('hex'), md5);
      assert.equal(signOpenApi(method, params, APPKEY), md5);
    });
  }

  it('never lowercases the app key', () => {
    // printf %s 'gettimestamp=1700000000&appid=10001appkey-ä9' | md5sum
    const lower = '9dd2119ddf50f06efd432751bd6f1b5c';
    assert.equal(signOpenApi('GET', common, 'appkey-ä9'), lower);
    assert.notEqual(signOpenApi('GET', common, APPKEY), lower);
  });

  // Samples of a public server with this interface, each with the digest that is published with it.
  const SAMPLES: readonly (readonly [what: string, method: string, params: Params, md5: string])[] =
    [
      ['a call', 'get', { timestamp: '1433814203' }, '9f0b613de12d5bb0451c556900a39559'],
      [
        'a push',
        'post',
        { devid: '8454703', message: 'HELLO_AGAIN', format: 'MSG', timestamp: '1466656220' },
        'e626bb3a830a8f5eaa88d11462542d1d',
      ],
      [
        'a channel',
        'get',
        { chipid: '8454703', timestamp: '1466642512648' },
        'e54844ce4d29aff9920ccbec32be2e54',
      ],
    ];
  for (const [what, method, params, md5] of SAMPLES) {
    it(`is that of the published sample of ${what}`, () => {
      const all = { appid: '1234', ...params };
      assert.equal(signOpenApi(method, all, '25b28f0ffb9711e4a96d446d579b49a1'), md5);
    });
  }

  it('accepts a parameter with the name of a property of every object', () => {
    const params = JSON.parse('{"__proto__":"1","constructor":"2"}') as Params;
    assert.equal(canonicalParams(params), 'constructor=2&__proto__=1');
  });
});

interface ServerVector extends Pick<Vector, 'what' | 'text' | 'md5'> {
  request: ServerApiRequest;
  password: string;
}

/** After section 5.1. */
const SERVER_VECTORS: ServerVector[] = [
  {
    what: 'a GET, lowercased as a whole, the password and its umlaut included',
    request: { method: 'GET', path: '/api/server/devices', key: 'Prod-Key', timestamp: 1700000000 },
    password: 'Pass-WÖRD',
    text: 'get/api/server/deviceskey=prod-keytimestamp=1700000000pass-wörd',
    md5: 'c9144e6dc47ce87c6b7c6699846e8a35',
  },
  {
    what: '&, =, % and + in key and password, which stay as they are',
    request: { method: 'POST', path: '/api/server/x', key: 'K&=%+', timestamp: '1700000000' },
    password: 'P&=%+',
    text: 'post/api/server/xkey=k&=%+timestamp=1700000000p&=%+',
    md5: 'aaeaebf7fc72a9bafa263979cbce705f',
  },
];

describe('the signature of the server API (section 5.1)', () => {
  for (const { what, request, password, text, md5 } of SERVER_VECTORS) {
    it(`covers ${what}`, () => {
      assert.equal(createHash('md5').update(text).digest('hex'), md5);
      assert.equal(signServerApi(request, password), md5);
    });
  }
});

describe('a Node.js that makes no MD5 hashes, as in FIPS mode', () => {
  const usual = crypto.hash;
  before(() => {
    crypto.hash = ((algorithm: string, data: string) => {
      if (algorithm === 'md5')
        throw new Error('error:0308010C:digital envelope routines::unsupported');
      return usual(algorithm, data);
    }) as typeof crypto.hash;
  });
  after(() => {
    crypto.hash = usual;
  });

  it('is said by each call and by the channel, and nothing is sent', async () => {
    const { service, client } = await serving(json({ msg: 'OK' }));
    for (const call of [client.push(1, 'x'), client.devices(), client.serverDevices()]) {
      const error = await failure(call, 'NOT_CONFIGURED');
      assert.match(error.message, /MD5.*FIPS/);
      assert.ok(!error.uncertain);
    }
    const faults: string[] = [];
    const joined = client.listen(1, { onFault: (fault) => faults.push(fault) });
    await until(() => joined.channel.reason !== undefined, 'the channel has tried to connect');
    assert.equal(joined.channel.reason, 'NOT_CONFIGURED');
    assert.match(faults[0] ?? '', /FIPS/);
    joined.release();
    assert.equal(service.requests.length, 0);
  });
});
