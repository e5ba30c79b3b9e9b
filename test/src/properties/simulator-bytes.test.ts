import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { startSimulator, type Simulator } from '../../../src/simulator';
import { goodText, holds, textOf } from '../support/fuzz';
import { channelUrl, openChannel, openGet } from '../simulator/client';
import { until } from '../../../tooling/until';
import { jsonText } from './json-text';

const CHIPID = '10000001';

const bytes = fc.uint8Array({ maxLength: 120 }).map((each) => Buffer.from(each));

/** Requests that are nearly ones, in pieces. */
const line = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'PUT', 'get', 'CONNECT', 'OPTIONS', 'G T', ''),
    fc.oneof(
      fc.constantFrom('/openapi/apps/', '/noticed/peer?a', '*', '//', '/%', '/api/server/devices'),
      textOf('/ab?&=%2f.. \0\r'),
    ),
    fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''),
  )
  .map((parts) => `${parts.join(' ')}\r\n`);
const header = fc.constantFrom(
  'Host: x\r\n',
  'Host: localhost\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'Upgrade: h2c\r\nConnection: Upgrade\r\n',
  'Sec-WebSocket-Version: 13\r\n',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
  `X: ${'x'.repeat(20_000)}\r\n`,
  ' folded\r\n',
);
const request = fc
  .tuple(line, fc.array(header, { maxLength: 5 }), bytes, fc.boolean())
  .map(([first, headers, body, ends]) =>
    Buffer.concat([Buffer.from(first + headers.join('') + (ends ? '\r\n' : '')), body]),
  );

/** A frame of a client (RFC 6455, 5.2), masked with zeros, with whatever is in its first byte. */
const frame = fc.tuple(fc.oneof(fc.constant(0x81), fc.nat(0xff)), bytes).map(([first, payload]) => {
  const head = [first, 0x80 | payload.length, 0, 0, 0, 0];
  return Buffer.concat([Buffer.from(head), payload]);
});

describe('a simulator to which anything at all is sent', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    const quick = { interval: 0, answerDelay: 0, offlineAfter: 5, rebootTime: 0 };
    simulator = await startSimulator(quick);
  });
  afterEach(() => simulator.close());

  /** Writes pieces, ends the connection, and waits until it has gone. */
  const write = async (pieces: readonly Buffer[]): Promise<void> => {
    const socket = connect(simulator.port, '127.0.0.1');
    socket.on('error', () => undefined);
    // Otherwise what was answered would keep it open.
    socket.resume();
    for (const piece of pieces) socket.write(piece);
    socket.end();
    // Not `once` of events, which rejects if the simulator resets the connection: it may, since more was sent than it reads.
    await new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  };
  const lives = async (): Promise<void> => {
    assert.equal((await openGet(simulator, 'apps/')).status, 200);
  };

  holds(
    'survives any bytes on its port',
    60,
    fc.asyncProperty(
      fc.array(fc.oneof(bytes, request), { minLength: 1, maxLength: 4 }),
      async (pieces) => {
        await write(pieces);
        await lives();
      },
    ),
  );

  holds(
    'survives any bytes on a channel',
    40,
    fc.asyncProperty(fc.array(fc.oneof(bytes, frame), { maxLength: 5 }), async (pieces) => {
      const path = new URL(channelUrl(simulator, CHIPID));
      const head = Buffer.from(
        `GET ${path.pathname}${path.search} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n` +
          'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
          'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
      );
      await write([head, ...pieces]);
      assert.equal(simulator.requests.at(-1)?.status, 101);
      await lives();
      await until(() => simulator.channels() === 0, 'the channel has ended');
    }),
  );

  holds(
    'accepts any text as a frame of a channel, and keeps it open',
    40,
    fc.asyncProperty(
      fc.oneof(
        goodText,
        jsonText.map(({ text }) => text),
        fc
          .dictionary(
            fc.constantFrom('type', 'body', '__proto__'),
            fc.oneof(fc.jsonValue(), fc.constantFrom('msgpush', 'heartbeat', 'QQ==')),
          )
          .map((each) => JSON.stringify(each)),
      ),
      async (text) => {
        const channel = await openChannel(simulator, CHIPID);
        const ponged = once(channel, 'pong');
        channel.send(text);
        channel.ping();
        await ponged;
        channel.terminate();
      },
    ),
  );
});
