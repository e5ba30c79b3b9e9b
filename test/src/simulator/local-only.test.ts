import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { WebSocket } from 'ws';
import type { Simulator } from '../../../src/simulator';
import { channelUrl, openChannel, openUrl, withSimulator } from './client';
import { until } from '../../../tooling/until';

const DEVICE = '10000001';

type Headers = Record<string, string>;

/** What each request carries that a page of another host makes a browser send. */
const FOREIGN: Record<string, Headers> = {
  'a script of another host': { origin: 'https://evil.example' },
  'a sandboxed frame': { origin: 'null' },
  'a name that begins as loopback does': { origin: 'http://127.0.0.1.evil.example' },
  'a page whose name was rebound to loopback': { host: 'evil.example:8787' },
  'a rebound page, from itself': { host: 'evil.example', origin: 'http://evil.example' },
  'a host that ends as localhost does': { host: 'evil-localhost' },
  'an address that is not loopback': { host: '128.0.0.1' },
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
        const { online } = simulator.device(DEVICE);
        assert.deepEqual([online, simulator.channels()], [true, 0]);
        assert.deepEqual(
          simulator.requests.map((request) => request.status),
          [403, 403, 403],
        );
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
    'a request without any Host is refused, an upgrade as well',
    withSimulator({}, async (simulator) => {
      const url = openUrl(simulator, 'get', 'apps/');
      const channel = new URL(channelUrl(simulator, DEVICE));
      const upgrading =
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
      for (const head of [
        `GET ${url} HTTP/1.0\r\n`,
        `GET ${channel.pathname}${channel.search} HTTP/1.1\r\n${upgrading}`,
      ]) {
        const wire = connect(simulator.port, '127.0.0.1');
        wire.write(`${head}\r\n`);
        const [data] = (await once(wire, 'data')) as [Buffer];
        assert.match(data.toString(), /^HTTP\/1\.1 403 /);
        wire.destroy();
      }
    }),
  );

  it(
    'the body of a refused request is not read, and its connection ends',
    withSimulator({}, async (simulator) => {
      const wire = connect(simulator.port, '127.0.0.1').resume();
      wire.on('error', () => undefined);
      wire.write(
        'POST /openapi/app/push/message/ HTTP/1.1\r\nHost: evil.example\r\n' +
          'Content-Length: 1000000000\r\n\r\nmessage=',
      );
      await once(wire, 'close');
      assert.deepEqual(
        simulator.requests.map(({ body, status: answered }) => [body, answered]),
        [['', 403]],
      );
    }),
  );

  it(
    'a refused request uses up no fault that is meant for another',
    withSimulator({}, async (simulator) => {
      const foreign = { origin: 'https://evil.example' };
      simulator.fail('gateway', { times: 1 });
      simulator.fail('gateway-upgrade', { times: 1 });
      assert.equal(await status(simulator, 'get', 'apps/', foreign), 403);
      assert.equal(await upgrade(simulator, foreign), 403);
      assert.equal(await status(simulator, 'get', 'apps/', {}), 502);
      assert.equal(await upgrade(simulator, {}), 502);
    }),
  );
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that are in use, after a collection of the garbage. */
function memory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('simulator: what it logs of a request', () => {
  it(
    'is the first 64 KiB of a frame, whole characters, and its size',
    withSimulator({}, async (simulator) => {
      const channel = await openChannel(simulator, DEVICE);
      // One byte and then characters of two: 64 KiB would end in the middle of one.
      channel.send(`x${'é'.repeat(500_000)}`);
      channel.send('short');
      await until(() => simulator.frames.length === 2);
      const [long, short] = simulator.frames;
      assert.equal(long?.text, `x${'é'.repeat(32 * 1024 - 1)}`);
      assert.deepEqual([long.size, short?.text, short?.size], [1_000_001, 'short', 5]);
    }),
  );

  it(
    'does not keep long frames in memory',
    withSimulator({}, async (simulator) => {
      const channel = await openChannel(simulator, DEVICE);
      const before = memory();
      const frame = 'x'.repeat(4 * 1024 * 1024);
      for (let sent = 1; sent <= 10; sent++) {
        channel.send(frame);
        await until(() => simulator.frames.length === sent);
      }
      // The buffers of the sockets are freed some turns of the event loop after the last frame.
      await until(() => memory() - before < 16 * 1024 * 1024, 'most of the 40 MiB is free again');
    }),
  );

  it(
    'is the first 64 KiB of a body',
    withSimulator({}, async (simulator) => {
      const path = openUrl(simulator, 'post', 'app/push/message/');
      const response = await fetch(simulator.baseUrl + path, {
        method: 'POST',
        body: 'x'.repeat(200_000),
      });
      assert.equal(response.status, 400);
      assert.equal(simulator.requests.at(-1)?.body.length, 64 * 1024);
    }),
  );
});
