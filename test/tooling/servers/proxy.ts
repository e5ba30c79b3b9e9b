import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { atEnd } from './at-end';
import { onLoopback } from './loopback';

/** A proxy on loopback that makes tunnels, or refuses to. */
export interface TestProxy {
  url: string;
  /** Host and port of each CONNECT. */
  targets: string[];
  /** `Proxy-Authorization` of each CONNECT. */
  authorizations: (string | undefined)[];
  /** What it does with the next ones: a tunnel, one that speaks first, a status, the end of the connection, or nothing. */
  behaviour: 'tunnel' | 'chatter' | 'end' | 'hang' | 'trickle' | number;
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
  /** The far ends of the tunnels. */
  const targets = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '', headers }, client: Socket) => {
    made.targets.push(url);
    made.authorizations.push(headers['proxy-authorization']);
    if (made.behaviour === 'hang' || made.behaviour === 'trickle') {
      // The sockets of an HTTP server are half-open: this one would not notice the other side's end.
      client.on('end', () => client.destroy()).resume();
      if (made.behaviour === 'trickle') trickle(client);
      return;
    }
    if (made.behaviour === 'end') {
      client.end();
      return;
    }
    if (made.behaviour === 'chatter') {
      client.end('HTTP/1.1 200 Connection established\r\n\r\nThe host is blocked.');
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
    targets.add(target);
    target.on('error', () => undefined);
    target.on('close', () => {
      targets.delete(target);
      client.destroy();
    });
    client.on('close', () => target.destroy());
  });
  const { port: own, sockets, close } = await onLoopback(server);
  const made: TestProxy = {
    url: `http://127.0.0.1:${own}`,
    targets: [],
    authorizations: [],
    behaviour,
    sockets: () => sockets() + targets.size,
  };
  atEnd(close);
  return made;
}
