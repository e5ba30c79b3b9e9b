import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Certificate } from './certs';
import { onLoopback, type Loopback } from './loopback';

/** A server on loopback that makes what it knows of its caller show wherever it can. */
export interface HostileServer extends Loopback {
  baseUrl: string;
  /** The signatures that came. */
  signs: string[];
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

async function serve(answer: Answer, certificate?: Certificate): Promise<HostileServer> {
  const server: Server = certificate ? createTlsServer(certificate) : createServer();
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
  const loopback = await onLoopback(server);
  const baseUrl = `${certificate ? 'https' : 'http'}://127.0.0.1:${loopback.port}`;
  return { ...loopback, baseUrl, signs };
}

/** Everything that came, as text that may stand in a header. */
const all = ({ method, url, headers }: IncomingMessage, body: string): string =>
  `${method} ${url} ${JSON.stringify(headers)} ${body}`.replace(/[^ -~]/g, '?');

/**
 * Repeats each request, and secrets that a service knows, in its status line, headers and `msg`.
 * @param secrets in the forms in which requests are written
 */
export const echoServer = (status: number, secrets: readonly string[]): Promise<HostileServer> =>
  serve((request, body) => {
    const said = `you sent ${all(request, body)}`;
    const forms = secrets.flatMap((each) => [each, each.toLowerCase()]);
    return {
      status,
      statusText: said,
      headers: { location: request.url ?? '', 'x-echo': said, 'set-cookie': said },
      body: JSON.stringify({ msg: `${said} for ${forms.join(' ')}` }),
    };
  });

/**
 * Answers every request with the same JSON.
 * @param certificate for TLS
 */
export const answerServer = (body: unknown, certificate?: Certificate): Promise<HostileServer> =>
  serve(() => ({ status: 200, body: JSON.stringify(body) }), certificate);

/** Sends every request on to where it came from, signature and all. */
export const redirectServer = (): Promise<HostileServer> =>
  serve((request) => ({
    status: 302,
    headers: { location: `http://elsewhere.invalid${request.url ?? ''}` },
    body: JSON.stringify({ msg: `moved to ${request.url}` }),
  }));

/** A proxy that refuses, and repeats who asked. */
export const refusingProxy = (status = 407): Promise<HostileServer> =>
  serve((request) => {
    const who = String(request.headers['proxy-authorization']);
    return { status, statusText: who, headers: { 'x-echo': who }, body: who };
  });
