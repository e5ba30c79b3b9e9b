import { once } from 'node:events';
import type { AddressInfo, ListenOptions, Server, Socket } from 'node:net';

/** A server on loopback, at a port of the system's choice. */
export interface Loopback {
  port: number;
  /** How many connections are open, and how many there ever were. */
  sockets: () => number;
  connections: () => number;
  /** Ends the server and whatever is connected to it. */
  close: () => Promise<void>;
}

/**
 * Has a server listen on loopback, whatever it speaks, and keeps its connections in sight.
 * @param options of `listen`, other than those of the system's choice
 */
export async function onLoopback(server: Server, options: ListenOptions = {}): Promise<Loopback> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen({ port: 0, host: '127.0.0.1', ...options });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sockets: () => sockets.size,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
