import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type SecureVersion, type TLSSocket } from 'node:tls';
import { tlsConnector } from '../../../src/http/tls';
import { atEnd } from '../../tooling/servers/at-end';
import { ELSEWHERE, LOOPBACK } from '../../tooling/servers/certs';
import { onLoopback, type Loopback } from '../../tooling/servers/loopback';

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
