import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { clientOf } from '../support/client';
import { holds } from '../support/fuzz';
import { CHIPID, listen } from '../support/listener';
import { until } from '../../../tooling/until';
import { wireService } from '../../../tooling/servers/wire-service';

const event = (body: string): string =>
  JSON.stringify({
    ...{ type: 'data_upload', appid: '10001', chipid: CHIPID, timestamp: '1700000000' },
    body: Buffer.from(body).toString('base64'),
  });

/** A frame of a server (RFC 6455, 5.2), with whatever is in its first byte. */
function frame(first: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const head = length < 126 ? [first, length] : [first, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), payload]);
}

const bytes = fc.uint8Array({ maxLength: 200 });
const text = fc.oneof(
  fc.json().map((json) => Buffer.from(json)),
  fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each)),
);
/** What a broken service may send once the channel is open. */
const noise = fc.array(
  fc.oneof(
    bytes.map((each) => Buffer.from(each)),
    text.map((each) => frame(0x81, each)),
    fc.tuple(fc.nat(0xff), bytes).map(([first, each]) => frame(first, each)),
  ),
  { maxLength: 6 },
);

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Answers an upgrade by hand, so that anything at all can be written after it. */
function upgrade(socket: Socket, then: () => void): void {
  let head = '';
  let answered = false;
  socket.on('data', (data) => {
    head += data.toString('latin1');
    if (answered || !head.includes('\r\n\r\n')) return;
    answered = true;
    const key = /^sec-websocket-key: *(\S+)/im.exec(head)?.[1] ?? '';
    const accept = createHash('sha1')
      .update(key + GUID)
      .digest('base64');
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    then();
  });
}

describe('a channel on which anything at all arrives', () => {
  holds(
    'still delivers the next valid upload, and nothing of the noise',
    40,
    fc.asyncProperty(noise, async (pieces) => {
      let connections = 0;
      const service = await wireService(
        () => undefined,
        (socket) =>
          upgrade(socket, () => {
            if (connections++ > 0) socket.write(frame(0x81, Buffer.from(event('good'))));
            else socket.end(Buffer.concat(pieces));
          }),
      );
      const client = clientOf(service.baseUrl);
      const listener = listen(client);
      await until(() => listener.uploads.length > 0, 'the good upload');
      assert.deepEqual(listener.texts(), ['good']);
      await client.close();
      await service.close();
    }),
  );
});
