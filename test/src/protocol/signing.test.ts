import assert from 'node:assert/strict';
import crypto, { createHash, hash } from 'node:crypto';
import {
  canonicalParams,
  type Params,
  type ServerApiRequest,
  signedAppText,
  signedServerText,
  type SignedText,
  signOpenApi,
  signServerApi,
} from '../../../src/protocol/signing';
import { json } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { KEYS, keysOf, serving, simulator } from '../support/client';
import { failure } from '../support/failure';
import { signByHand, signServerByHand } from '../../tooling/sign-by-hand';
import { HAS_TOOLS, output, SHELL } from '../support/shell';
import { inEachDialect } from '../../tooling/dialect';

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

const { appid, appkey, serverKey, serverPassword } = KEYS;
const NOW = 1_433_814_203_900;
const PATH = '/api/server/devices';

describe('the text that was signed', () => {
  it('has the sign of the request as its MD5 once the keys are put in', () => {
    const app = signedAppText('https://cloud.example', appid, NOW);
    assert.equal(app.signed, `gettimestamp=1433814203&appid=${appid}<APPKEY>`);
    const timestamp = '1433814203';
    const sign = signByHand('get', { appid, timestamp }, appkey);
    assert.equal(hash('md5', app.signed.replace('<APPKEY>', appkey)), sign);
    const server = signedServerText('https://cloud.example', NOW);
    const text = server.signed
      .replace('<SERVER_KEY>', serverKey)
      .replace('<SERVER_PASSWORD>', serverPassword);
    const signed = signServerByHand('GET', PATH, serverKey, timestamp, serverPassword);
    assert.equal(hash('md5', text.toLowerCase()), signed);
  });
});

if (SHELL === undefined) {
  describe('the command that sends a request again', () => {
    it('is not run: this machine has no POSIX shell', () => undefined);
  });
} else describe('the command that sends a request again', runs);

function runs(): void {
  const tools = HAS_TOOLS ? 'machine' : 'stand-ins';
  const run = (
    { curl }: SignedText,
    keys: Readonly<Record<string, string>>,
    using: typeof tools = tools,
  ): Promise<string> => output(curl, keys, using);

  inEachDialect('on a service', () => {
    it('is accepted for the right keys, and refused for others', async () => {
      const keys = keysOf();
      const cloud = await simulator({ appkey: keys.appkey });
      const app = signedAppText(cloud.baseUrl, appid, NOW);
      const server = signedServerText(cloud.baseUrl, NOW);
      const ENV = { APPKEY: keys.appkey, SERVER_KEY: serverKey, SERVER_PASSWORD: serverPassword };
      assert.match(await run(app, ENV), /^HTTP\/1.1 200 OK\r?\n[^]*"online"/);
      assert.match(await run(server, ENV), /^HTTP\/1.1 200 OK\r?\n/);
      assert.match(await run(app, { ...ENV, APPKEY: 'another' }), /^HTTP\/1.1 40[01] /);
      assert.match(await run(server, { ...ENV, SERVER_PASSWORD: 'another' }), /^HTTP\/1.1 40[01] /);
    });
  });

  it('contains no key and no sign, and sends nothing while a key is not set', async () => {
    const cloud = await simulator();
    for (const text of [
      signedAppText(cloud.baseUrl, appid, NOW),
      signedServerText(cloud.baseUrl, NOW),
    ]) {
      const shown = JSON.stringify(text);
      assert.doesNotMatch(shown, /[0-9a-f]{32}/);
      for (const secret of [appkey, serverKey, serverPassword])
        assert.ok(!shown.toLowerCase().includes(secret.toLowerCase()), shown);
      assert.match(await run(text, { APPKEY: '', SERVER_KEY: serverKey, SERVER_PASSWORD: '' }), /APPKEY|SERVER_PASSWORD/); // prettier-ignore
    }
    assert.equal(cloud.requests.length, 0);
  });

  it('takes keys as they are, whatever they mean to a shell or to printf', async () => {
    const odd = `$(id)'"\\n%s !`;
    const cloud = await simulator({ appkey: odd, serverPassword: odd });
    const ENV = { APPKEY: odd, SERVER_KEY: serverKey, SERVER_PASSWORD: odd };
    assert.match(await run(signedAppText(cloud.baseUrl, appid, NOW), ENV), /^HTTP\/1.1 200 /);
    assert.match(await run(signedServerText(cloud.baseUrl, NOW), ENV), /^HTTP\/1.1 200 /);
  });

  it('works with stand-ins, for machines that have neither curl nor openssl', async () => {
    const { baseUrl } = await simulator({ dialect: 'document' });
    const text = await run(signedAppText(baseUrl, appid, NOW), { APPKEY: appkey }, 'stand-ins');
    assert.match(text, /^HTTP\/1.1 200 OK/);
  });
}
