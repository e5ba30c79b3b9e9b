import assert from 'node:assert/strict';
import { createServer } from 'node:tls';
import { Tunnels } from '../../../src/http/proxy';
import { atEnd } from '../../tooling/servers/at-end';
import { onLoopback } from '../../tooling/servers/loopback';
import { clientOf, serving } from '../support/client';
import { LOCALHOST, LOOPBACK } from '../../tooling/servers/certs';
import { channelService, tlsChannelService } from '../../tooling/servers/channel-service';
import { failure } from '../support/failure';
import { httpService, json } from '../../tooling/servers/http-service';
import { nextState } from '../support/listener';
import { proxy } from '../../tooling/servers/proxy';
import { freePort } from '../../tooling/servers/ports';

const ok = json({ status: 'online', msg: 'OK' });
const tls = { ca: LOOPBACK.cert };

describe('calls and channels through a proxy', () => {
  const settings = ({ url }: { url: string }) => ({ url, username: 'me', password: 'pass' });

  it('reach a service, with TLS or without, by a tunnel, with the password for the proxy alone', async () => {
    const through = await proxy();
    const authorization = `Basic ${Buffer.from('me:pass').toString('base64')}`;
    for (const certificate of [undefined, LOOPBACK]) {
      const service = await httpService(ok, certificate);
      const options = { proxy: settings(through), tls };
      const client = clientOf(service.baseUrl, options);
      assert.deepEqual((await client.push(1, 'x')).body, { status: 'online', msg: 'OK' });
      const channels = await (certificate ? tlsChannelService(certificate) : channelService());
      await nextState(clientOf(channels.baseUrl, options), 'connected');
      const targets = [service, channels].map(({ port }) => `127.0.0.1:${port}`);
      assert.deepEqual(through.targets.splice(0), targets);
      assert.deepEqual(through.authorizations.splice(0), [authorization, authorization]);
      const { path, headers } = service.requests[0]!;
      assert.equal(path, '/openapi/dev/push/message/');
      assert.equal(headers.host, targets[0]);
      for (const sent of [headers, channels.headers[0]])
        assert.equal(sent?.['proxy-authorization'], undefined);
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
    const channels = await tlsChannelService(LOOPBACK);
    for (const host of ['inside.invalid', '192.0.2.1']) {
      const [call, channel] = await Promise.all(
        [service, channels].map(async ({ port }) =>
          clientOf(`https://${host}`, { proxy: settings(await proxy('tunnel', port)), tls }),
        ),
      );
      const { message } = await failure(call!.push(1, 'x'), 'UNREACHABLE');
      assert.match(message, /ERR_TLS_CERT_ALTNAME_INVALID.* of the service or of the proxy /);
      const { reason } = await nextState(channel!, 'disconnected');
      assert.equal(reason, 'ERR_TLS_CERT_ALTNAME_INVALID', host);
    }
    assert.deepEqual([service.requests.length, channels.opened()], [0, 0]);
  });

  it('are UNREACHABLE, or stay closed, if the proxy is down', async () => {
    const service = await httpService(ok);
    const url = `http://127.0.0.1:${await freePort()}`;
    const client = clientOf(service.baseUrl, { proxy: { url } });
    const { message } = await failure(client.push(1, 'x'), 'UNREACHABLE');
    assert.match(message, /could not be reached through the proxy\. /);
    assert.equal((await nextState(client, 'disconnected')).reason, 'ECONNREFUSED');
    assert.equal(service.connections(), 0);
  });

  it('ask a proxy over https for its own certificate, not for that of the service', async () => {
    const asked: string[] = [];
    const server = createServer({
      ...LOCALHOST,
      SNICallback: (name, use) => {
        asked.push(name);
        use(null);
      },
    });
    const { port, close } = await onLoopback(server);
    atEnd(close);
    for (const host of ['localhost', '127.0.0.1']) {
      const url = `https://${host}:${port}`;
      const tunnels = new Tunnels({ url }, 'https://inside.invalid');
      const error = await new Promise<NodeJS.ErrnoException | null>((resolve) =>
        tunnels.open(resolve),
      );
      assert.equal(error?.code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
    }
    // An address is no name to ask for.
    assert.deepEqual(asked, ['localhost']);
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
      assert.equal((await nextState(client, 'disconnected')).reason, `PROXY_${status}`);
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
