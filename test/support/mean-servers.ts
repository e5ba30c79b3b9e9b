import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Certificate } from '../src/support/certs';

/** A server on loopback that makes what it knows of its caller show wherever it can. */
export interface MeanServer {
  port: number;
  baseUrl: string;
  /** The signatures that came. */
  signs: string[];
  sockets(): number;
  close(): Promise<void>;
}

type Answer = (request: IncomingMessage, body: string) => Parameters<typeof send>[1];

interface Reply {
  status: number;
  statusText?: string;
  headers?: Record<string, string>;
  body: string;
}

function send(response: ServerResponse, { status, statusText, headers, body }: Reply): void {
  if (statusText === undefined) response.writeHead(status, headers);
  else response.writeHead(status, statusText, headers);
  response.end(body);
}

async function serve(answer: Answer, certificate?: Certificate): Promise<MeanServer> {
  const server: Server = certificate ? createTlsServer(certificate) : createServer();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    note(request);
    void text(request).then((body) => send(response, answer(request, body)));
  });
  const signs: string[] = [];
  const note = ({ url = '', headers }: IncomingMessage): void => {
    const sign = /[?&]sign=(\w+)/.exec(url)?.[1] ?? headers['sign'];
    if (typeof sign === 'string') signs.push(sign);
  };
  const raw = (request: IncomingMessage, socket: Duplex): void => {
    note(request);
    const { status, headers = {}, body, statusText = 'No' } = answer(request, '');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${statusText}\r\n${lines.join('')}\r\n${body}`);
    socket.on('end', () => socket.destroy()).resume();
  };
  server.on('upgrade', raw);
  server.on('connect', raw);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    baseUrl: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`,
    signs,
    sockets: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Everything that came, as text that may stand in a header. */
const all = ({ method, url, headers }: IncomingMessage, body: string): string =>
  `${method} ${url} ${JSON.stringify(headers)} ${body}`.replace(/[^ -~]/g, '?');

/**
 * Repeats each request, and secrets that a service knows, in its status line, headers and `msg`.
 * @param secrets in the forms in which requests are written
 */
export const echoServer = (status: number, secrets: readonly string[]): Promise<MeanServer> =>
  serve((request, body) => {
    const said = `you sent ${all(request, body)}`;
    const forms = secrets.flatMap((each) => [each, each.toLowerCase(), encodeURIComponent(each)]);
    return {
      status,
      statusText: said,
      headers: { location: request.url ?? '', 'x-echo': said, 'set-cookie': said },
      body: JSON.stringify({ msg: `${said} for ${forms.join(' ')}` }),
    };
  });

/** Answers every request with the same JSON. */
export const answerServer = (body: unknown): Promise<MeanServer> =>
  serve(() => ({ status: 200, body: JSON.stringify(body) }));

/** Sends every request on to where it came from, signature and all. */
export const redirectServer = (): Promise<MeanServer> =>
  serve((request) => ({
    status: 302,
    headers: { location: `http://elsewhere.invalid${request.url ?? ''}` },
    body: JSON.stringify({ msg: `moved to ${request.url}` }),
  }));

/** A server whose certificate nobody trusts. */
export const untrustedServer = (certificate: Certificate): Promise<MeanServer> =>
  serve(() => ({ status: 200, body: '[]' }), certificate);

/** A proxy that refuses, and repeats who asked. */
export const refusingProxy = (status = 407): Promise<MeanServer> =>
  serve((request) => {
    const who = String(request.headers['proxy-authorization']);
    return { status, statusText: who, headers: { 'x-echo': who }, body: who };
  });
