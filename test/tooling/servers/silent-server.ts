import { createServer } from 'node:net';
import { onLoopback } from './loopback';

/** A service that accepts every connection, reads what comes, and never answers. */
export interface SilentServer {
  baseUrl: string;
  appid: string;
  /** How many connections are open, and how many there ever were. */
  sockets(): number;
  accepted(): number;
  close(): Promise<void>;
}

export async function startSilentServer(): Promise<SilentServer> {
  const server = createServer((socket) => socket.resume());
  const { port, sockets, connections, close } = await onLoopback(server);
  const baseUrl = `http://127.0.0.1:${port}`;
  return { baseUrl, appid: '10001', sockets, accepted: connections, close };
}
