import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { BLOCK, frame, prepareBlocks } from './frames';
import { frameReader } from './read-frames';

const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;

// RFC 6455, section 4.2.2.
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export const switchProtocols = (key: string): string =>
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  `Sec-WebSocket-Accept: ${createHash('sha1')
    .update(key + GUID)
    .digest('base64')}\r\n\r\n`;

/** The channel of one device. */
export interface Channel {
  /** Uploads that were sent. */
  readonly sent: number;
  /** Uploads as fast as they are read, until it is told to stop. */
  flood(window: number): void;
  stop(): void;
}

/** @param count where the device's uploads go on */
export function openChannel(socket: Socket, device: number, count: number): Channel {
  const blocks = prepareBlocks(device);
  let next = count;
  let unread = 0;
  let window = 0;

  const pump = (): void => {
    for (; unread < window; unread++) {
      socket.write(blocks.from(next));
      next += BLOCK;
    }
  };
  const read = frameReader(({ opcode, payload }) => {
    if (opcode === PING) socket.write(frame(PONG, payload));
    else if (opcode === CLOSE) socket.end(frame(CLOSE, payload));
    else if (opcode === PONG && payload.length === 0) {
      unread--;
      pump();
    }
  });
  socket.on('data', read);

  return {
    get sent() {
      return next;
    },
    flood(blocksAtOnce) {
      window = blocksAtOnce;
      pump();
    },
    stop() {
      window = 0;
    },
  };
}
