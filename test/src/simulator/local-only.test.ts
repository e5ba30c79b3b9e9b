import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import type { Simulator } from '../../../src/simulator';
import { channelUrl, openUrl, withSimulator } from './client';

const DEVICE = '10000001';

type Headers = Record<string, string>;

/** What each request carries that a page of another host makes a browser send. */
const FOREIGN: Record<string, Headers> = {
  'a script of another host': { origin: 'https://evil.example' },
  'a name that begins as loopback does': { origin: 'http://127.0.0.1.evil.example' },
  'a page whose name was rebound to loopback': { host: 'evil.example:8787' },
  'an address with an octet too large': { host: '127.0.0.256' },
  'an image or a link of another host': { 'sec-fetch-site': 'cross-site' },
};

const OWN: Record<string, Headers> = {
  'no page': {},
  'a page of this machine': { origin: 'http://localhost:1880', 'sec-fetch-site': 'cross-site' },
  'the address itself': { host: '127.0.0.1', origin: 'https://127.8.9.10:443' },
  'the name localhost': { host: 'LOCALHOST:8787' },
  IPv6: { host: '[::1]:8787', origin: 'http://[::1]' },
};

/** The status of a request with headers that fetch does not let a caller set. */
async function status(
  simulator: Simulator,
  method: 'get' | 'post',
  path: string,
  headers: Headers,
): Promise<number> {
  const url = simulator.baseUrl + openUrl(simulator, method, path);
  const request = httpRequest(url, { method: method.toUpperCase(), headers, agent: false }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
  return response.statusCode ?? 0;
}

/** The status of an upgrade, 101 if a channel opened. */
async function upgrade(simulator: Simulator, headers: Headers): Promise<number> {
  const socket = new WebSocket(channelUrl(simulator, DEVICE), { headers });
  socket.on('error', () => undefined);
  const answer = await new Promise<number>((resolve) => {
    socket.on('open', () => resolve(101));
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0));
  });
  socket.terminate();
  return answer;
}

describe('simulator: who may call', () => {
  for (const [who, headers] of Object.entries(FOREIGN)) {
    it(
      `${who} can neither list, nor reboot, nor open a channel`,
      withSimulator({}, async (simulator) => {
        assert.equal(await status(simulator, 'get', 'devices/list/', headers), 403);
        assert.equal(await status(simulator, 'post', `reboot/dev/${DEVICE}/`, headers), 403);
        assert.equal(await upgrade(simulator, headers), 403);
        assert.equal(simulator.device(DEVICE).online, true);
      }),
    );
  }

  for (const [who, headers] of Object.entries(OWN)) {
    it(
      `${who} may call and open a channel`,
      withSimulator({}, async (simulator) => {
        assert.equal(await status(simulator, 'get', 'devices/list/', headers), 200);
        assert.equal(await status(simulator, 'post', `reboot/dev/${DEVICE}/`, headers), 200);
        assert.equal(await upgrade(simulator, headers), 101);
      }),
    );
  }

  it(
    'a request without any Host is refused',
    withSimulator({}, async (simulator) => {
      const wire = connect(simulator.port, '127.0.0.1');
      wire.write(`GET ${openUrl(simulator, 'get', 'apps/')} HTTP/1.0\r\n\r\n`);
      const [data] = (await once(wire, 'data')) as [Buffer];
      assert.match(data.toString(), /^HTTP\/1\.1 403 /);
      wire.destroy();
    }),
  );
});
