import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { atEnd } from './at-end';
import type { Certificate } from './certs';
import { onLoopback, type Loopback } from './loopback';

/** A request as it came. */
export interface Received {
  method: string;
  /** The path as sent, without the query. */
  path: string;
  /** The query as sent. */
  search: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An HTTP server on loopback that answers as a script says. */
export interface HttpService extends Loopback {
  baseUrl: string;
  requests: Received[];
}

/** @param count how many requests came before this one */
export type Script = (response: ServerResponse, request: Received, count: number) => void;

/** Answers with JSON. */
export const json =
  (value: unknown, status = 200): Script =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };

/** Answers with a text as it is. */
export const raw =
  (body: string | Buffer, status = 200, headers: Record<string, string> = {}): Script =>
  (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };

/** Takes the request and never answers. */
export const hang: Script = () => undefined;

/** Answers the first requests with the first scripts, and all later ones with the last. */
export const inSequence =
  (...scripts: Script[]): Script =>
  (response, request, count) => {
    scripts[Math.min(count, scripts.length - 1)]?.(response, request, count);
  };

export async function httpService(script: Script, tls?: Certificate): Promise<HttpService> {
  const requests: Received[] = [];
  const server = tls ? createTlsServer(tls) : createServer();
  server.on('request', (request, response) => {
    const { method = '', url = '', headers } = request;
    const [path = '', search = ''] = url.split('?');
    void text(request).then((body) => {
      const query = new URLSearchParams(search);
      const received = { method, path, search, query, headers, body };
      requests.push(received);
      script(response, received, requests.length - 1);
    });
  });
  const loopback = await onLoopback(server);
  atEnd(loopback.close);
  const baseUrl = `${tls ? 'https' : 'http'}://127.0.0.1:${loopback.port}`;
  return { ...loopback, baseUrl, requests };
}
