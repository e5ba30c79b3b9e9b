import assert from 'node:assert/strict';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createDispatcher, Turns } from '../../../src/http/pool';
import { atEnd } from '../../tooling/servers/at-end';
import { LOOPBACK } from '../../tooling/servers/certs';
import { onLoopback } from '../../tooling/servers/loopback';

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
