import assert from 'node:assert/strict';
import { CONNECTIONS, createDispatcher, Turns } from '../../../src/http/pool';
import { serving } from '../support/client';
import { failure, failures } from '../support/failure';
import { hang, json, raw, type Script } from '../../tooling/servers/http-service';
import { manual } from '../support/manual';
import { until } from '../../tooling/until';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { atEnd } from '../../tooling/servers/at-end';
import { LOOPBACK } from '../../tooling/servers/certs';
import { onLoopback } from '../../tooling/servers/loopback';

const ok = json({ status: 'online', msg: 'OK' });
/** A device for each connection. */
const ALL = Array.from({ length: CONNECTIONS }, (_, index) => index);

describe('the connections of a client', () => {
  it('are 64 at most, and further calls follow as they become free', async () => {
    const open = manual();
    let running = 0;
    let most = 0;
    const { service, client } = await serving((response, request, count) => {
      most = Math.max(most, ++running);
      void open.promise.then(() => {
        running--;
        ok(response, request, count);
      });
    });
    const calls = [...ALL, ...ALL].map((_, chipid) => client.push(chipid, 'x'));
    await until(() => service.requests.length === CONNECTIONS);
    open.resolve();
    await Promise.all(calls);
    assert.equal(most, CONNECTIONS);
    assert.ok(service.connections() <= CONNECTIONS);
  });

  it('are not lost to a call that was aborted while it waited for one', async () => {
    const [first, second] = [manual(), manual()];
    const { service, client } = await serving((response, request, count) => {
      const { promise } = count < CONNECTIONS ? first : second;
      void promise.then(() => ok(response, request, count));
    });
    const running = ALL.map((chipid) => client.push(chipid, 'x'));
    await until(() => service.requests.length === CONNECTIONS);
    const controller = new AbortController();
    const waiting = failure(
      client.push(CONNECTIONS, 'x', { signal: controller.signal }),
      'UNREACHABLE',
    );
    controller.abort();
    await waiting;
    first.resolve();
    await Promise.all(running);
    const next = ALL.map((chipid) => client.push(chipid, 'x'));
    await until(() => service.requests.length === 2 * CONNECTIONS, 'all run side by side');
    second.resolve();
    await Promise.all(next);
  });

  it('all hung let a waiting call fail after its own time limit, not theirs', async () => {
    const { service, client } = await serving(hang, { timeout: 1_000_000 });
    const controller = new AbortController();
    const { signal } = controller;
    const hung = failures(
      ALL.map((chipid) => client.reboot(chipid, { signal })),
      'CONNECTION_LOST',
    );
    await until(() => service.requests.length === CONNECTIONS);
    const waiting = client.push(100, 'x', { timeout: 100 });
    const { message } = await failure(waiting, 'TIMEOUT');
    assert.match(message, /Not sent within 0\.1 s/);
    assert.equal(service.requests.length, CONNECTIONS);
    controller.abort();
    await hung;
  });

  const failing: Record<string, Script> = {
    'time-outs': hang,
    resets: (response) => void response.socket?.destroy(),
    'answers that break off': (response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{', () => response.destroy());
    },
    'statuses that are errors': json({ msg: 'm' }, 400),
    'bodies that are not JSON': raw('<html>'),
    'long bodies of errors': raw(Buffer.alloc(1024 * 1024, ' '), 500),
  };
  for (const [name, script] of Object.entries(failing)) {
    it(`are all still there after more ${name} than there are connections`, async () => {
      let now = script;
      const { client } = await serving((...request) => now(...request));
      const bad = [...ALL, CONNECTIONS].map((chipid) => client.push(chipid, 'x', { timeout: 200 }));
      for (const { status } of await Promise.allSettled(bad)) assert.equal(status, 'rejected');
      now = ok;
      const good = ALL.map((chipid) => client.push(chipid, 'x'));
      for (const { body } of await Promise.all(good))
        assert.deepEqual(body, { status: 'online', msg: 'OK' });
    });
  }
});

const HEAD = 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n';
/** Bytes that Node.js reads at once of a plain connection. It looks for an end in the same turn only if it gets as many. */
const BUFFER = 65_536;

describe('an answer of which no more is read before the event loop has turned', () => {
  for (const isSecure of [false, true])
    it(`may end with its connection, ${isSecure ? 'over TLS' : 'plain'}`, async () => {
      const answer = (socket: Socket): void => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end(HEAD.padEnd(2 * BUFFER)));
      };
      const server = isSecure ? createTlsServer(LOOPBACK, answer) : createTcpServer(answer);
      const { port, close } = await onLoopback(server);
      atEnd(close);
      const origin = `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`;
      const turns = new Turns();
      const dispatcher = createDispatcher(origin, 1, { ca: LOOPBACK.cert }, undefined, turns);
      const read = (): Promise<number> =>
        new Promise((resolve, reject) => {
          let length = 0;
          dispatcher.dispatch(
            { origin, method: 'GET', path: '/' },
            {
              onRequestStart: () => undefined,
              onResponseStart: () => undefined,
              onResponseData(controller, chunk) {
                length += chunk.length;
                // With its end undici passes on an empty piece.
                if (chunk.length > 0) turns.await(controller);
              },
              onResponseEnd: () => resolve(length),
              onResponseError: (_controller, error) => reject(error),
            },
          );
        });
      for (let n = 0; n < 5; n++) assert.equal(await read(), 2 * BUFFER - HEAD.length);
      await dispatcher.close();
    });
});
