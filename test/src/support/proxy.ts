import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { atEnd } from './clean-up';

/** A proxy on loopback that makes tunnels, or refuses to. */
export interface TestProxy {
  url: string;
  /** Host and port of each CONNECT. */
  targets: string[];
  /** `Proxy-Authorization` of each CONNECT. */
  authorizations: (string | undefined)[];
  /** What it does with the next ones: a tunnel, a status, or nothing. */
  behaviour: 'tunnel' | 'hang' | 'trickle' | number;
  sockets(): number;
}

/** Begins an answer and never comes to its end. */
function trickle(client: Socket): void {
  client.write('HTTP/1.1 200 OK\r\nx-slow: ');
  const timer = setInterval(() => client.write('.'), 100);
  client.on('close', () => clearInterval(timer));
}

/** @param port where every tunnel leads, whatever host was asked for; default: where it asks to */
export async function proxy(
  behaviour: TestProxy['behaviour'] = 'tunnel',
  port?: number,
): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connection', keep);
  server.on('connect', ({ url = '', headers }, client: Socket) => {
    made.targets.push(url);
    made.authorizations.push(headers['proxy-authorization']);
    if (made.behaviour === 'hang' || made.behaviour === 'trickle') {
      // The sockets of an HTTP server are half-open: this one would not notice the other side's end.
      client.on('end', () => client.destroy()).resume();
      if (made.behaviour === 'trickle') trickle(client);
      return;
    }
    if (made.behaviour !== 'tunnel') {
      client.end(`HTTP/1.1 ${made.behaviour} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const target = connect(port ?? Number(url.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    keep(target);
    target.on('close', () => client.destroy());
    client.on('close', () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  const made: TestProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets: [],
    authorizations: [],
    behaviour,
    sockets: () => sockets.size,
  };
  return made;
}
