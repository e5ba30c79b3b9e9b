import assert from 'node:assert/strict';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import type { TestResult } from '../../../nodes/app/answers.config';
import { atEnd } from '../../tooling/servers/at-end';
import { ELSEWHERE, LOOPBACK } from '../../tooling/servers/certs';
import { httpService, json, raw, type Received } from '../../tooling/servers/http-service';
import { onLoopback } from '../../tooling/servers/loopback';
import { load } from '../support/flow';
import { useNodeRed } from '../support/node-red';
import { CANARIES } from '../support/secrets';
import { testConnection } from '../support/routes';

const TLS = {
  ...{ id: 'tls', type: 'tls-config', cert: '', key: '', ca: '', servername: '' },
  verifyservercert: true,
};

async function test(baseUrl: string, more: object = {}): Promise<TestResult> {
  await load('tls' in more ? [TLS] : [], { tls: { cadata: ELSEWHERE.cert } });
  const settings = { baseUrl, appid: 1, timeout: 3, credentials: CANARIES, ...more };
  return testConnection(settings);
}

const PAGE = '<html>Welcome</html>';

describe('the test of an address that is not the right one', () => {
  useNodeRed();
  for (const [what, script] of [
    ['a page', raw(PAGE)],
    ['no such page', raw(PAGE, 404)],
    ['a page about a bad request', raw(PAGE, 400)],
    ['a page that takes no GET', raw(PAGE, 405)],
    ['JSON of something else', json(['x'])],
  ] as const) {
    it(`says that it is not a device cloud if it answers with ${what}`, async () => {
      const { baseUrl } = await httpService(script);
      const { openApi, serverApi } = await test(baseUrl);
      assert.equal(openApi?.problem, 'not-a-cloud');
      if (what !== 'JSON of something else') assert.equal(serverApi?.problem, 'not-a-cloud');
      assert.equal(openApi.causes, undefined);
    });
  }

  it('says so of what is no HTTP', async () => {
    const server = createServer((socket) =>
      socket.on('error', () => undefined).end('SSH-2.0-x\r\n'),
    );
    const { port, close } = await onLoopback(server);
    atEnd(close);
    assert.equal((await test(`http://127.0.0.1:${port}`)).openApi?.problem, 'not-a-cloud');
  });

  for (const [what, script] of [
    ['a refusal', json({ msg: 'no' }, 401)],
    ['an unknown application', json({ msg: 'no application' }, 404)],
    ['a failure', raw(PAGE, 502)],
  ] as const)
    it(`does not say so of a service that answers with ${what}`, async () => {
      const { baseUrl } = await httpService(script);
      const { openApi } = await test(baseUrl);
      assert.equal(openApi?.ok, false);
      assert.equal(openApi.problem, undefined);
    });

  it('names a certificate that this machine does not trust', async () => {
    const self = await httpService(json({ name: 'x', online: [] }), LOOPBACK);
    const { openApi, serverApi } = await test(self.baseUrl);
    assert.deepEqual(
      [openApi?.code, openApi?.problem, serverApi?.problem],
      ['UNREACHABLE', 'self-signed', 'self-signed'],
    );
    assert.equal(self.requests.length, 0);
  });

  it('names a certificate of another host', async () => {
    const elsewhere = await httpService(json({ name: 'x', online: [] }), ELSEWHERE);
    const other = await test(elsewhere.baseUrl, { tls: 'tls' });
    assert.equal(other.openApi?.problem, 'another-host');
    assert.equal(elsewhere.requests.length, 0);
  });

  for (const [what, plain] of [
    ['closes the connection', ''],
    ['answers with an alert of TLS', '\x15\x03\x01\x00\x02\x02\x46'],
    ['answers with a page', `HTTP/1.1 400 Bad Request\r\ncontent-length: 19\r\n\r\n${PAGE}`],
  ] as const)
    it(`says that a port with TLS needs https if it ${what}`, async () => {
      const urls: string[] = [];
      const secure = createTlsServer(LOOPBACK, ({ url = '', headers }, response) => {
        urls.push(`${url} ${headers['key'] as string}`);
        json({ msg: 'no' }, 401)(response, {} as Received, 0);
      });
      const front = createServer((socket) => {
        socket.once('data', (first: Buffer) => {
          socket.pause();
          socket.unshift(first);
          // How each connection over TLS begins.
          if (first[0] === 0x16) secure.emit('connection', socket);
          else socket.end(Buffer.from(plain, 'latin1'));
        });
      });
      const { port, close } = await onLoopback(front);
      atEnd(close);
      const { openApi } = await test(`http://127.0.0.1:${port}`);
      assert.equal(openApi?.problem, 'needs-https');
      // No certificate is checked there, so it is asked with neither of the keys.
      assert.ok(urls.length > 0);
      for (const url of urls) assert.match(url, /^\/openapi\/apps\/\?.* undefined$/);
    });
});
