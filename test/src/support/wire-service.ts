import { createServer, type AddressInfo, type Socket } from 'node:net';
import { atEnd } from './clean-up';

/** A TCP server on loopback that answers requests byte by byte. */
export interface WireService {
  baseUrl: string;
  port: number;
  /** How many requests came, over all connections. */
  readonly requests: () => number;
  readonly sockets: () => number;
  readonly connections: () => number;
  close(): Promise<void>;
}

const END_OF_HEAD = '\r\n\r\n';

/**
 * @param onRequest called with the head of each request without a body, and how many came before
 */
export async function wireService(
  onRequest: (socket: Socket, count: number) => void,
  onConnection: (socket: Socket) => void = () => undefined,
): Promise<WireService> {
  const sockets = new Set<Socket>();
  let requests = 0;
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    onConnection(socket);
    let head = '';
    socket.on('data', (data) => {
      head += data.toString('latin1');
      if (!head.includes(END_OF_HEAD)) return;
      head = '';
      onRequest(socket, requests++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  atEnd(close);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    port,
    requests: () => requests,
    sockets: () => sockets.size,
    connections: () => connections,
    close,
  };
}

/** A port on which nothing listens. */
export async function deadPort(): Promise<number> {
  const service = await wireService(() => undefined);
  await service.close();
  return service.port;
}
