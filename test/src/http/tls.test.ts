import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { transportError } from '../../../src/http/failures';
import { clientOf } from '../support/client';
import { ELSEWHERE, LOOPBACK } from '../../tooling/servers/certs';
import { failure, thrown } from '../support/failure';
import { httpService, json } from '../../tooling/servers/http-service';
import { proxy } from '../../tooling/servers/proxy';
import { tlsChannelService } from '../../tooling/servers/channel-service';
import { nextState } from '../support/listener';
import { once } from 'node:events';
import { createServer, type SecureVersion, type TLSSocket } from 'node:tls';
import { tlsConnector } from '../../../src/http/tls';
import { atEnd } from '../../tooling/servers/at-end';
import { type Loopback, onLoopback } from '../../tooling/servers/loopback';

const ok = json({ status: 'online', msg: 'OK' });
const ca = LOOPBACK.cert;

describe('a service over https', () => {
  it('is called if its certificate is trusted, by its address and by its name', async () => {
    const service = await httpService(ok, LOOPBACK);
    for (const baseUrl of [service.baseUrl, `https://localhost:${service.port}`]) {
      const client = clientOf(baseUrl, { tls: { ca } });
      assert.deepEqual((await client.push(1, 'x')).body, { status: 'online', msg: 'OK' });
    }
  });

  it('is called with any certificate if configured', async () => {
    const service = await httpService(ok, ELSEWHERE);
    const client = clientOf(service.baseUrl, { tls: { rejectUnauthorized: false } });
    assert.deepEqual((await client.push(1, 'x')).body, { status: 'online', msg: 'OK' });
  });

  const encrypted = createPrivateKey(LOOPBACK.key).export({
    ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'the-passphrase' },
  } as const);
  for (const [what, tls, flaw] of [
    ['a certificate that is no PEM', { ...LOOPBACK, cert: 'no PEM' }, /not in the PEM format/],
    ['a key that is no PEM', { ...LOOPBACK, key: 'no PEM' }, /cannot be used: /],
    ['the key of another one', { ...LOOPBACK, key: ELSEWHERE.key }, /does not belong to/],
    ['a wrong passphrase', { key: encrypted, passphrase: 'the-passphrase2' }, /wrong or missing/],
    ['a server name that is no text', { servername: 5 as unknown as string }, /must be text/],
  ] as const) {
    it(`is NOT_CONFIGURED with ${what}, for each interface`, () => {
      for (const keys of [{ appkey: '' }, { serverKey: '' }]) {
        const { message } = thrown(
          () => clientOf('https://127.0.0.1:1', { ...keys, tls }),
          'NOT_CONFIGURED',
        );
        assert.match(message, flaw);
        assert.doesNotMatch(message, /the-passphrase/);
      }
    });
  }

  it('is UNREACHABLE with a self-signed certificate, and receives nothing', async () => {
    const service = await httpService(ok, LOOPBACK);
    const { message } = await failure(clientOf(service.baseUrl).push(1, 'x'), 'UNREACHABLE');
    assert.match(message, /DEPTH_ZERO_SELF_SIGNED_CERT.* of no authority .*TLS settings\.$/);
    assert.equal(service.requests.length, 0);
  });

  it('is UNREACHABLE with the certificate of another host, each time, and receives nothing', async () => {
    const service = await httpService(ok, ELSEWHERE);
    const client = clientOf(service.baseUrl, { tls: { ca: ELSEWHERE.cert } });
    for (let call = 0; call < 3; call++) {
      const { message } = await failure(client.push(1, 'x'), 'UNREACHABLE');
      assert.match(message, /ERR_TLS_CERT_ALTNAME_INVALID.* of another host: check the address/);
    }
    assert.equal(service.requests.length, 0);
  });

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`is UNREACHABLE over ${maxVersion} if it requires a certificate of the client: nothing was done`, async () => {
      const asking = { ...LOOPBACK, requestCert: true, rejectUnauthorized: true, maxVersion, ca };
      const service = await httpService(ok, asking);
      const through = await proxy();
      for (const settings of [false, { url: through.url }] as const) {
        const client = clientOf(service.baseUrl, { tls: { ca }, proxy: settings });
        const { message, uncertain } = await failure(client.push(1, 'x'), 'UNREACHABLE');
        assert.match(message, maxVersion === 'TLSv1.3' ? /or requires one: check/ : /ALERT/);
        assert.equal(uncertain, false);
        const tls = { ...LOOPBACK, ca };
        const good = clientOf(service.baseUrl, { tls, proxy: settings });
        assert.equal((await good.push(1, 'x')).statusCode, 200);
      }
      assert.equal(service.requests.length, 2);
    });
  }

  it('may have a certificate that is out of date only by the clock of this machine', () => {
    const call = { name: 'Push', reach: 'device', ofDevice: true, api: 'open' } as const;
    for (const detail of ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']) {
      const failed = { kind: 'error', sent: false, detail } as const;
      assert.match(transportError(call, failed, false, 1000).message, /clock of this machine/);
    }
  });

  it('is checked for the configured server name', async () => {
    const service = await httpService(ok, ELSEWHERE);
    const tls = { ca: ELSEWHERE.cert, servername: 'elsewhere.test' };
    assert.equal((await clientOf(service.baseUrl, { tls }).push(1, 'x')).statusCode, 200);
  });
});

describe('a channel over wss', () => {
  it('opens if the certificate is trusted', async () => {
    const service = await tlsChannelService(LOOPBACK);
    const client = clientOf(service.baseUrl, { tls: { ca } });
    assert.equal((await nextState(client, 'connected')).state, 'connected');
  });

  it('stays closed with a self-signed certificate', async () => {
    const service = await tlsChannelService(LOOPBACK);
    const { reason } = await nextState(clientOf(service.baseUrl), 'disconnected');
    assert.equal(reason, 'DEPTH_ZERO_SELF_SIGNED_CERT');
    assert.equal(service.opened(), 0);
  });

  it('stays closed at a port without TLS, with the code that a call has', async () => {
    const { baseUrl } = await httpService(ok);
    const client = clientOf(baseUrl.replace('http:', 'https:'));
    const { reason } = await nextState(client, 'disconnected');
    const { message } = await failure(client.push(1, 'x'), 'UNREACHABLE');
    assert.match(message, /Not sent \(ERR_SSL_\w+\).* speaks no TLS: check/);
    assert.ok(message.includes(String(reason)), reason);
  });
});

const host = '127.0.0.1';

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  describe(`connections over ${version}`, () => {
    /** A server that greets, so that what it sends before has arrived. */
    async function serve(certificate: typeof LOOPBACK, port = 0): Promise<Loopback> {
      const versions = { minVersion: version, maxVersion: version as SecureVersion };
      const server = createServer({ ...certificate, ...versions }, (socket) => {
        socket.on('error', () => undefined);
        socket.end('hello');
      });
      const loopback = await onLoopback(server, { port });
      atEnd(loopback.close);
      return loopback;
    }
    /** @returns whether it has resumed a session */
    async function greeted(socket: TLSSocket): Promise<boolean> {
      const [data] = (await once(socket, 'data')) as [Buffer];
      assert.equal(String(data), 'hello');
      const isReused = socket.isSessionReused();
      await once(socket, 'close');
      return isReused;
    }

    it('resume the session of an earlier one', async () => {
      const { port } = await serve(LOOPBACK);
      const open = tlsConnector({ ca: LOOPBACK.cert });
      const resumed = [];
      for (let n = 0; n < 3; n++) resumed.push(await greeted(open({ host, port })));
      assert.deepEqual(resumed, [false, true, true]);
    });

    it('share no session with those of other settings', async () => {
      const { port } = await serve(LOOPBACK);
      assert.equal(await greeted(tlsConnector({ ca: LOOPBACK.cert })({ host, port })), false);
      const [error] = (await once(tlsConnector({})({ host, port }), 'error')) as [
        NodeJS.ErrnoException,
      ];
      assert.equal(error.code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
    });

    for (const [how, error] of [
      ['failed', new Error('reset')],
      ['was given up', undefined],
    ] as const) {
      it(`are established anew after one that ${how}`, async () => {
        const { port } = await serve(LOOPBACK);
        const open = tlsConnector({ ca: LOOPBACK.cert });
        await greeted(open({ host, port }));
        const broken = open({ host, port }).on('error', () => undefined);
        broken.destroy(error);
        await new Promise((resolve) => broken.once('close', resolve));
        assert.equal(await greeted(open({ host, port })), false);
      });
    }

    it('are established anew with a server that has forgotten the session', async () => {
      const { port, close } = await serve(LOOPBACK);
      const open = tlsConnector({ ca: LOOPBACK.cert });
      await greeted(open({ host, port }));
      await close();
      await serve(LOOPBACK, port);
      const resumed = [];
      for (let n = 0; n < 2; n++) resumed.push(await greeted(open({ host, port })));
      assert.deepEqual(resumed, [false, true]);
    });

    it('are refused by a server that has changed to the certificate of another host', async () => {
      const { port, close } = await serve(LOOPBACK);
      const open = tlsConnector({ ca: [LOOPBACK.cert, ELSEWHERE.cert] });
      await greeted(open({ host, port }));
      await close();
      await serve(ELSEWHERE, port);
      const [error] = (await once(open({ host, port }), 'error')) as [NodeJS.ErrnoException];
      assert.equal(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID');
    });
  });
}
