import { createHash } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { IDENTITY } from '../identity';

/*
 * Answers pushes (section 4.2, endpoint 3) on bare sockets: with `node:http` it would be no quicker
 * than what is measured on it.
 */

/** A check of every signature would make it slow. */
const CHECK_ONE_IN = 64;

const LENGTH = /\r\ncontent-length: *(\d+)/i;

const answer = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
  `Date: ${new Date().toUTCString()}\r\nConnection: keep-alive\r\n\r\n${body}`;

/** Section 5.2 once more, since the client must not be checked with its own code. */
function isSigned(target: string, body: string): boolean {
  const params = new URLSearchParams(`${target.slice(target.indexOf('?') + 1)}&${body}`);
  const sign = params.get('sign');
  params.delete('sign');
  const pairs = [...params].map(([name, value]) => `${name}=${value}`.toLowerCase());
  const text = `post${pairs.sort().reverse().join('&')}${IDENTITY.appkey}`;
  const complete = ['appid', 'timestamp', 'devid', 'message', 'format'];
  return (
    complete.every((name) => params.has(name)) &&
    sign === createHash('md5').update(text).digest('hex')
  );
}

/** Counts pushes, and answers 401 if a signature that is checked is wrong. */
export class PushServer {
  readonly server: Server = createServer((socket) => this.#serve(socket));
  count = 0;

  #answer(target: string, body: string): string {
    const right = this.count++ % CHECK_ONE_IN !== 0 || isSigned(target, body);
    return right ? answer('200 OK', '{"msg":"OK"}') : answer('401 Unauthorized', '{"msg":"sign"}');
  }

  #serve(socket: Socket): void {
    let pending = '';
    socket.setNoDelay(true);
    // A subject that ends leaves its connections broken.
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      for (;;) {
        const headEnd = pending.indexOf('\r\n\r\n');
        if (headEnd < 0) return;
        const head = pending.slice(0, headEnd);
        const bodyAt = headEnd + 4;
        const end = bodyAt + Number(LENGTH.exec(head)?.[1] ?? 0);
        if (pending.length < end) return;
        const target = head.split(' ', 2)[1] ?? '';
        socket.write(this.#answer(target, pending.slice(bodyAt, end)));
        pending = pending.slice(end);
      }
    });
  }
}
