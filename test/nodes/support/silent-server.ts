import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A service that takes every connection, reads what comes, and never answers. */
export interface SilentServer {
  baseUrl: string;
  appid: string;
  /** How many connections are open, and how many there ever were. */
  sockets(): number;
  accepted(): number;
  close(): Promise<void>;
}

export async function startSilentServer(): Promise<SilentServer> {
  const open = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    accepted++;
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    appid: '10001',
    sockets: () => open.size,
    accepted: () => accepted,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
