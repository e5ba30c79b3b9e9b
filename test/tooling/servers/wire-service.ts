import { createServer, type ListenOptions, type Socket } from 'node:net';
import { atEnd } from './at-end';
import { onLoopback, type Loopback } from './loopback';

/** A TCP server on loopback that answers requests byte by byte. */
export interface WireService extends Loopback {
  baseUrl: string;
  /** How many requests came, over all connections. */
  readonly requests: () => number;
}

const END_OF_HEAD = '\r\n\r\n';

/**
 * @param onRequest called with the head of each request without a body, and how many came before
 * @param options of `listen`
 */
export async function wireService(
  onRequest: (socket: Socket, count: number) => void,
  onConnection: (socket: Socket) => void = () => undefined,
  options: ListenOptions = {},
): Promise<WireService> {
  let requests = 0;
  const server = createServer((socket) => {
    onConnection(socket);
    let head = '';
    socket.on('data', (data) => {
      head += data.toString('latin1');
      if (!head.includes(END_OF_HEAD)) return;
      head = '';
      onRequest(socket, requests++);
    });
  });
  const loopback = await onLoopback(server, options);
  atEnd(loopback.close);
  const baseUrl = `http://127.0.0.1:${loopback.port}`;
  return { ...loopback, baseUrl, requests: () => requests };
}
