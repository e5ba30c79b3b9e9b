import type { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { WebSocketServer } from 'ws';

/** Bytes of frames that are written at a time. */
const CHUNK = 64 * 1024;

/** Sends the same bytes over and over, as fast as they are taken. It reads nothing meanwhile. */
function flood(socket: Socket, frame: Buffer): void {
  const chunk = Buffer.concat(Array<Buffer>(Math.ceil(CHUNK / frame.length)).fill(frame));
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
}

const channels = new WebSocketServer({ port: 0, host: '127.0.0.1' });
channels.on('connection', (channel) => {
  channel.on('error', () => undefined);
  // Past ws, which would need as long to make the frames as the other side to read them.
  const { _socket: socket } = channel as unknown as { _socket: Socket };
  socket.pause();
  flood(socket, Buffer.from(workerData as Uint8Array));
});
channels.on('listening', () => parentPort?.postMessage(channels.address()));
