import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { atEnd } from '../../tooling/servers/at-end';
import { onLoopback } from '../../tooling/servers/loopback';
import { clientOf } from '../support/client';
import { listen } from '../support/listener';

/** Section 1.3 of RFC 6455. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const acceptOf = (key: string | undefined): string => hash('sha1', `${key ?? ''}${GUID}`, 'base64');

/** A service that answers upgrades with these headers. @param accept of the answer; default: the right one */
async function service(headers: string, accept?: string): Promise<string> {
  const server = createServer();
  server.on('upgrade', ({ headers: { 'sec-websocket-key': key } }, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${headers}\r\n` +
        `Sec-WebSocket-Accept: ${accept ?? acceptOf(key)}\r\n\r\n`,
    );
  });
  const { port, close } = await onLoopback(server);
  atEnd(close);
  return `http://127.0.0.1:${port}`;
}

describe('an answer to the upgrade that does not open the channel', () => {
  for (const [what, headers, accept] of [
    [
      'agrees to an extension',
      'Upgrade: websocket\r\nSec-WebSocket-Extensions: permessage-deflate',
    ],
    ['chooses a subprotocol', 'Upgrade: websocket\r\nSec-WebSocket-Protocol: mqtt'],
    ['is for another protocol', 'Upgrade: h2c'],
    ['is for another connection', 'Upgrade: websocket', 'bm90IHlvdXJzIGF0IGFsbCE='],
  ] as const) {
    it(`is the reason HANDSHAKE if it ${what}`, async () => {
      const listener = listen(clientOf(await service(headers, accept), { random: () => 0.99 }));
      await listener.state('disconnected');
      const { reason: given } = listener.changes.find(({ state }) => state === 'disconnected')!;
      assert.equal(given, 'HANDSHAKE');
    });
  }
});
