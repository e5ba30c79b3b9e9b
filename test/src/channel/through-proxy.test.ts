import assert from 'node:assert/strict';
import { createServer } from 'node:tls';
import { Tunnels } from '../../../src/http/proxy';
import { atEnd } from '../../tooling/servers/at-end';
import { LOCALHOST, LOOPBACK } from '../../tooling/servers/certs';
import { channelService, tlsChannelService } from '../../tooling/servers/channel-service';
import { clientOf } from '../support/client';
import { nextState } from '../support/listener';
import { onLoopback } from '../../tooling/servers/loopback';
import { proxy } from '../../tooling/servers/proxy';
import { freePort } from '../../tooling/servers/ports';

const tls = { ca: LOOPBACK.cert };

describe('a channel through a proxy', () => {
  const settings = (url: string) => ({ url, username: 'me', password: 'pass' });

  it('opens over ws and wss', async () => {
    const through = await proxy();
    for (const service of [await channelService(), await tlsChannelService(LOOPBACK)]) {
      const client = clientOf(service.baseUrl, { proxy: settings(through.url), tls });
      await nextState(client, 'connected');
      assert.equal(through.targets.at(-1), `127.0.0.1:${service.port}`);
      assert.match(String(through.authorizations.at(-1)), /^Basic /);
      assert.equal(service.headers[0]?.['proxy-authorization'], undefined);
    }
  });

  it('verifies the certificate of the service, not of the proxy', async () => {
    const service = await tlsChannelService(LOOPBACK);
    const through = await proxy('tunnel', service.port);
    for (const host of ['inside.invalid', '192.0.2.1']) {
      const client = clientOf(`https://${host}`, { proxy: settings(through.url), tls });
      const { reason } = await nextState(client, 'disconnected');
      assert.equal(reason, 'ERR_TLS_CERT_ALTNAME_INVALID', host);
    }
    assert.equal(service.opened(), 0);
  });

  it('asks a proxy over https for the certificate of the proxy, not of the service', async () => {
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

  it('stays closed if the proxy is down, or refuses', async () => {
    const service = await channelService();
    const url = `http://127.0.0.1:${await freePort()}`;
    const down = clientOf(service.baseUrl, { proxy: { url } });
    assert.equal((await nextState(down, 'disconnected')).reason, 'ECONNREFUSED');
    const through = await proxy(407);
    const refused = clientOf(service.baseUrl, { proxy: settings(through.url) });
    assert.equal((await nextState(refused, 'disconnected')).reason, 'PROXY_407');
    assert.equal(service.sockets(), 0);
  });
});
