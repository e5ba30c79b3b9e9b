import assert from 'node:assert/strict';
import { clientOf, serving } from '../support/client';
import { LOOPBACK } from '../../tooling/servers/certs';
import { channelService } from '../../tooling/servers/channel-service';
import { failure } from '../support/failure';
import { httpService, json } from '../../tooling/servers/http-service';
import { nextState } from '../support/listener';
import { proxy } from '../../tooling/servers/proxy';
import { freePort } from '../../tooling/servers/ports';

const ok = json({ status: 'online', msg: 'OK' });
const tls = { ca: LOOPBACK.cert };

describe('calls through a proxy', () => {
  it('reach a service over http and https by a tunnel, with the password for the proxy alone', async () => {
    const through = await proxy();
    const settings = { url: through.url, username: 'me', password: 'pass' };
    const authorization = `Basic ${Buffer.from('me:pass').toString('base64')}`;
    for (const certificate of [undefined, LOOPBACK]) {
      const service = await httpService(ok, certificate);
      const client = clientOf(service.baseUrl, { proxy: settings, tls });
      assert.deepEqual((await client.push(1, 'x')).body, { status: 'online', msg: 'OK' });
      assert.equal(through.targets.at(-1), `127.0.0.1:${service.port}`);
      assert.equal(through.authorizations.at(-1), authorization);
      const { path, headers } = service.requests[0]!;
      assert.equal(path, '/openapi/dev/push/message/');
      assert.equal(headers['proxy-authorization'], undefined);
      assert.equal(headers.host, `127.0.0.1:${service.port}`);
    }
  });

  it('leave the name of the service to be resolved by the proxy', async () => {
    const service = await httpService(ok);
    const through = await proxy('tunnel', service.port);
    const client = clientOf('http://inside.invalid', { proxy: { url: through.url } });
    assert.deepEqual((await client.push(1, 'x')).body, { status: 'online', msg: 'OK' });
    assert.deepEqual(through.targets, ['inside.invalid:80']);
  });

  it('verify the certificate of the service, not of the proxy', async () => {
    const service = await httpService(ok, LOOPBACK);
    const through = await proxy('tunnel', service.port);
    const client = clientOf('https://inside.invalid', { proxy: { url: through.url }, tls });
    const { message } = await failure(client.push(1, 'x'), 'UNREACHABLE');
    assert.match(message, /ERR_TLS_CERT_ALTNAME_INVALID.* of the service or of the proxy /);
    assert.equal(service.requests.length, 0);
  });

  it('are UNREACHABLE if the proxy is down', async () => {
    const service = await httpService(ok);
    const url = `http://127.0.0.1:${await freePort()}`;
    const { message } = await failure(
      clientOf(service.baseUrl, { proxy: { url } }).push(1, 'x'),
      'UNREACHABLE',
    );
    assert.match(message, /could not be reached through the proxy\. /);
    assert.equal(service.connections(), 0);
  });

  for (const [what, behaviour] of [
    ['ends the connection', 'end'],
    ['answers 100', 100],
    ['answers 101', 101],
    ['sends data through the tunnel before the request', 'chatter'],
  ] as const) {
    it(`are UNREACHABLE after one attempt if the proxy ${what}`, async () => {
      const through = await proxy(behaviour);
      const { client } = await serving(ok, { proxy: { url: through.url } });
      for (let call = 1; call <= 3; call++) {
        await failure(client.push(1, 'x'), 'UNREACHABLE');
        assert.equal(through.targets.length, call);
      }
      through.behaviour = 'tunnel';
      assert.deepEqual((await client.push(1, 'x')).body, { status: 'online', msg: 'OK' });
    });
  }

  for (const status of [407, 403, 502]) {
    it(`are UNREACHABLE if the proxy answers ${status}; the next good call works`, async () => {
      const through = await proxy(status);
      const service = await httpService(ok);
      const settings = { url: through.url, username: 'me', password: 'the-password' };
      const client = clientOf(service.baseUrl, { proxy: settings });
      for (let call = 0; call < 3; call++) {
        const { message } = await failure(client.push(1, 'x'), 'UNREACHABLE');
        assert.doesNotMatch(message, /the-password/);
        assert.match(message, /The proxy made no connection to the service: /);
        assert.ok(!message.includes(through.url));
        assert.match(
          message,
          status === 407
            ? /^UNREACHABLE: Not sent: the proxy answered 407\. .*asks for a user name/
            : new RegExp(`answered ${status}\\. .*it refused\\.`),
        );
      }
      assert.equal(service.connections(), 0);
      through.behaviour = 'tunnel';
      assert.deepEqual((await client.push(1, 'x')).body, { status: 'online', msg: 'OK' });
    });
  }
});

describe('a proxy of the environment', () => {
  const NAMES = ['http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'];
  let before: (string | undefined)[];
  beforeEach(() => {
    before = NAMES.map((name) => process.env[name]);
    for (const name of NAMES) Reflect.deleteProperty(process.env, name);
  });
  afterEach(() => {
    for (const [index, name] of NAMES.entries()) {
      const value = before[index];
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });

  it('is used for calls and channels, but not for what NO_PROXY names, or against the setting', async () => {
    const through = await proxy();
    process.env['HTTP_PROXY'] = through.url;
    const service = await httpService(ok);
    const channels = await channelService();
    const usual = { proxy: undefined as never };
    await clientOf(service.baseUrl, usual).push(1, 'x');
    await nextState(clientOf(channels.baseUrl, usual), 'connected');
    assert.deepEqual(through.targets, [`127.0.0.1:${service.port}`, `127.0.0.1:${channels.port}`]);
    await clientOf(service.baseUrl, { proxy: false }).push(1, 'x');
    process.env['NO_PROXY'] = 'localhost,127.0.0.1';
    await clientOf(service.baseUrl, usual).push(1, 'x');
    await nextState(clientOf(channels.baseUrl, usual), 'connected');
    assert.equal(through.targets.length, 2);
    assert.equal(service.requests.length, 3);
  });
});
