import assert from 'node:assert/strict';
import { proxyFor } from '../../../src/http/proxy';
import { thrown } from '../support/failure';

const HTTPS = 'https://cloud.example.com';
const HTTP = 'http://cloud.example.com:8080';
const url = (origin: string, environment: Record<string, string>): string | undefined =>
  proxyFor(origin, undefined, environment)?.url;

describe('the proxy of the environment', () => {
  const all = { HTTPS_PROXY: 'http://a:1', HTTP_PROXY: 'http://b:2' };

  it('is HTTPS_PROXY for https and HTTP_PROXY for http', () => {
    assert.equal(url(HTTPS, all), 'http://a:1');
    assert.equal(url(HTTP, all), 'http://b:2');
  });

  it('may be in lower case, which takes precedence', () => {
    assert.equal(url(HTTPS, { ...all, https_proxy: 'http://c:3' }), 'http://c:3');
  });

  it('may lack a scheme', () => {
    assert.equal(
      url(HTTPS, { HTTPS_PROXY: 'proxy.example.com:3128' }),
      'http://proxy.example.com:3128',
    );
  });

  it('is not used if no variable is set, or it is empty', () => {
    assert.equal(url(HTTPS, {}), undefined);
    assert.equal(url(HTTPS, { HTTPS_PROXY: '', HTTP_PROXY: 'http://b:2' }), undefined);
  });

  const named = ['CLOUD.example.COM', '.example.com', '*.example.com', 'cloud.example.com:443'];
  for (const entry of ['*', ...named, 'other, example.com', 'other example.com']) {
    it(`is bypassed with NO_PROXY=${entry}`, () => {
      assert.equal(url(HTTPS, { ...all, NO_PROXY: entry }), undefined);
    });
  }

  for (const entry of ['', 'ample.com', 'cloud.example.com:8080', 'example.org']) {
    it(`is used with NO_PROXY=${entry}`, () => {
      assert.equal(url(HTTPS, { ...all, NO_PROXY: entry }), 'http://a:1');
    });
  }

  it('is bypassed for a name with a final dot, or with letters of any language', () => {
    for (const [host, entry] of [
      ['cloud.example.com.', 'example.com'],
      ['cloud.example.com', 'cloud.example.com.'],
      ['设备.example.com', '设备.example.com'],
      ['a.设备.example.com', '*.xn--srs139i.example.com'],
    ] as const)
      assert.equal(url(`https://${host}`, { ...all, NO_PROXY: entry }), undefined, entry);
  });

  it('is bypassed for loopback addresses that NO_PROXY names', () => {
    const environment = { HTTP_PROXY: 'http://b:2', NO_PROXY: 'localhost,127.0.0.1,[::1]' };
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      assert.equal(url(`http://${host}:8080`, environment), undefined, host);
    }
  });
});

describe('a range of addresses in NO_PROXY', () => {
  const ranges: [entry: string, host: string, isBypassed: boolean][] = [
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', false],
    ['192.168.1.0/24', '192.168.2.1', false],
    ['[fd00::]/8', '[fd12::5]', true],
    ['fd00::/8', '[fe80::5]', false],
    ['10.0.0.0/8', '[::ffff:10.1.2.3]', true],
    ['::/0', '10.1.2.3', false],
    ['10.0.0.0/8', '10.example.com', false],
    ['10.0.0.0/33', '10.1.2.3', false],
    ['10.0.0/8', '10.1.2.3', false],
  ];
  for (const [entry, host, isBypassed] of ranges) {
    it(`${entry} ${isBypassed ? 'has' : 'does not have'} ${host}`, () => {
      const environment = { HTTP_PROXY: 'http://b:2', NO_PROXY: `other,${entry}` };
      assert.equal(url(`http://${host}:8080`, environment) === undefined, isBypassed);
    });
  }
});

describe('an IPv6 address in NO_PROXY', () => {
  const through = (host: string, entry: string): boolean =>
    url(`http://${host}`, { HTTP_PROXY: 'http://b:2', NO_PROXY: `other,${entry}` }) !== undefined;

  const named: [host: string, entry: string][] = [
    ['[::1]:8080', '::1'],
    ['[::1]:8080', '[::1]:8080'],
    ['[fd00::5]', '[fd00:0::0005]'],
    ['[::1]', '*'],
    ['[::ffff:1.2.3.4]', '::ffff:1.2.3.4'],
  ];
  for (const [host, entry] of named) {
    it(`names ${host} as ${entry}`, () => assert.ok(!through(host, entry)));
  }

  const others: [host: string, entry: string][] = [
    ['[::1]:8080', '[::1]:80'],
    ['[::2]', '::1'],
    ['[fd00::5]:80', 'fd00::5:80'],
    ['[fe80::1]', 'fe80::1%eth0'],
    ['[::1]', '[::1'],
  ];
  for (const [host, entry] of others) {
    it(`does not name ${host} as ${entry}`, () => assert.ok(through(host, entry)));
  }
});

describe('a proxy that was set', () => {
  it('takes precedence over the environment, and keeps its password apart from its address', () => {
    const settings = { url: 'http://me:pass%40word@proxy:3128/' };
    assert.deepEqual(proxyFor(HTTPS, settings, { HTTPS_PROXY: 'http://a:1' }), {
      url: 'http://proxy:3128',
      authorization: `Basic ${Buffer.from('me:pass@word').toString('base64')}`,
    });
  });

  it('uses the user name and password of the settings, in UTF-8', () => {
    const found = proxyFor(
      HTTPS,
      { url: 'http://proxy:3128', username: 'mü', password: 'p:w' },
      {},
    );
    assert.equal(found?.authorization, `Basic ${Buffer.from('mü:p:w').toString('base64')}`);
  });

  it('is bypassed for the hosts of NO_PROXY', () => {
    const settings = { url: 'http://proxy:3128', noProxy: ['cloud.example.com'] };
    assert.equal(proxyFor(HTTPS, settings, {}), undefined);
  });

  for (const bad of ['http://', 'http://a b', 'socks5://secret@proxy', 'ftp://proxy']) {
    it(`cannot be ${bad}`, () => {
      const error = thrown(() => proxyFor(HTTPS, { url: bad }, {}), 'NOT_CONFIGURED');
      assert.match(error.message, /proxy/);
      assert.doesNotMatch(error.message, /secret/);
    });
  }
});
