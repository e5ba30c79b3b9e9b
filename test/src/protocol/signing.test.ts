import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { canonicalParams, signOpenApi, type Params } from '../../../src/protocol/signing';

const APPKEY = 'AppKey-Ä9';
const common = { appid: '10001', timestamp: '1700000000' };

interface Vector {
  what: string;
  method: string;
  params: Params;
  /** The exact text that is hashed, written by hand after section 5.2. */
  text: string;
  /** Of `printf %s '<text>' | md5sum`. */
  md5: string;
}

const VECTORS: Vector[] = [
  {
    what: 'a request with the common parameters alone',
    method: 'GET',
    params: common,
    text: 'gettimestamp=1700000000&appid=10001AppKey-Ä9',
    md5: '44133f64e84a203ce52b0a2563ab60fd',
  },
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
    what: 'empty values',
    method: 'POST',
    params: { message: '', format: '', ...common },
    text: 'posttimestamp=1700000000&message=&format=&appid=10001AppKey-Ä9',
    md5: '96836ee2ecd59360ba956609aa17e491',
  },
  {
    what: 'names in mixed case, ordered by their lowercase',
    method: 'GET',
    params: { B: '1', a: '2', C: '3' },
    text: 'getc=3&b=1&a=2AppKey-Ä9',
    md5: '4bfb4521959088548d3d3998c53843f9',
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
  {
    what: "the channel's address, with a timestamp of 13 digits and a chip number of 20",
    method: 'get',
    params: { appid: '10001', timestamp: '1700000000123', chipid: '18446744073709551615' },
    text: 'gettimestamp=1700000000123&chipid=18446744073709551615&appid=10001AppKey-Ä9',
    md5: 'd9ffba742f96d3ce7ff78b3b28a386f5',
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
      ['a level', 'post', { timestamp: '1466655681' }, '73495b87b6a8eac4b7f6b485f7761a9d'],
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

  it('does not depend on the order in which the parameters are given', () => {
    const { appid, timestamp } = common;
    assert.equal(
      signOpenApi('GET', { timestamp, key: 'x', appid }, APPKEY),
      signOpenApi('GET', { key: 'x', appid, timestamp }, APPKEY),
    );
  });

  it('accepts a parameter with the name of a property of every object', () => {
    const params = JSON.parse('{"__proto__":"1","constructor":"2"}') as Params;
    assert.equal(canonicalParams(params), 'constructor=2&__proto__=1');
  });
});
