import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cloudApp, load, node } from './support/flow';
import { fail, shows } from './support/messages';
import { useNodeRed } from './support/node-red';
import { CANARIES, findSecret } from './support/secrets';

// The check itself runs after every test of every file: see `closeJournal`.

describe('the check for secrets', () => {
  const sign = '0123456789abcdef0123456789ABCDEF';

  it('finds a key, a password and a signature wherever they are', () => {
    const error = new Error('innocent');
    const places: unknown[] = [
      `a key: ${CANARIES.appkey.toUpperCase()}`,
      { msg: { deep: [{ text: CANARIES.serverPassword }] } },
      new Error(`in a message: ${CANARIES.serverKey}`),
      new Error('in a cause', { cause: { url: `?sign=${sign}` } }),
      Object.assign(new Error('in a property'), { url: `?sign=${sign}&a=1` }),
      Object.defineProperty(error, 'hidden', { value: sign, enumerable: false }),
    ];
    for (const place of places) assert.ok(findSecret(place), String(place));
  });

  it('finds none where there is none', () => {
    const harmless = ['', 'f'.repeat(31), 'f'.repeat(64), { _msgid: '0123456789abcdef' }, null];
    for (const text of harmless) assert.equal(findSecret(text), undefined);
  });
});

describe('a service that repeats everything it was sent', () => {
  useNodeRed();

  it('makes no secret appear in an error, a status or the log', async () => {
    const server = createServer((request, response) => {
      const msg = `you sent ${request.url} ${JSON.stringify(request.headers)} for ${JSON.stringify(CANARIES)}`; // prettier-ignore
      response.writeHead(400, { location: request.url, 'x-echo': request.url });
      response.end(JSON.stringify({ msg }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const echo = { baseUrl: `http://127.0.0.1:${port}`, appid: '10001' };
    const listen = node('listen', { chipids: ['10000001'] });
    await load([cloudApp(echo), node('push'), node('devices'), node('server'), listen]);
    try {
      const { error } = await fail('push', { chipid: '1', payload: 'x' }, 'BAD_REQUEST');
      assert.match(error.message, /you sent \/openapi\/dev\/push\/message\//);
      await fail('devices', {}, 'BAD_REQUEST');
      const server = await fail('server', {}, 'BAD_REQUEST');
      assert.match(server.error.message, /you sent/);
      await shows('listen', 'status.disconnected');
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
