import type { Socket } from 'node:net';

/** A request as it came. */
export interface Request {
  method: string;
  /** Path and query. */
  target: string;
  /** The request line and the header lines, as they are. */
  head: string;
  body: string;
}

const LINE = /^(\S+) (\S+) /;
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CLOSE = /\r\nconnection: *close/i;

export const wantsClose = ({ head }: Request): boolean => CLOSE.test(head);

/** The value of a header, or an empty text. */
export const headerOf = ({ head }: Request, name: string): string =>
  new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(head)?.[1] ?? '';

/**
 * Reads the requests of a connection, as little as it takes: the service must be much faster than
 * what is measured on it.
 * @param onRequest returns false when the connection is no longer HTTP
 */
export function readRequests(socket: Socket, onRequest: (request: Request) => boolean): void {
  let pending = '';

  const onData = (chunk: Buffer): void => {
    pending += chunk.toString('latin1');
    for (;;) {
      const end = pending.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = pending.slice(0, end);
      const length = Number(LENGTH.exec(head)?.[1] ?? 0);
      const bodyAt = end + 4;
      if (pending.length < bodyAt + length) return;
      const [, method = '', target = ''] = LINE.exec(head) ?? [];
      const body = pending.slice(bodyAt, bodyAt + length);
      pending = pending.slice(bodyAt + length);
      if (onRequest({ method, target, head, body })) continue;
      socket.off('data', onData);
      return;
    }
  };
  socket.on('data', onData);
}

const answer = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}` +
  `\r\nDate: ${new Date().toUTCString()}\r\nConnection: keep-alive\r\n\r\n${body}`;

export const okay = (body: string): string => answer('200 OK', body);
export const notFound = (): string => answer('404 Not Found', '{"msg":"not found"}');
