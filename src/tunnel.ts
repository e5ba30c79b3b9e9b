import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { Proxy } from './proxy';

/** What Node.js calls with the connection, or with the reason why there is none. */
type Connected = (error: Error | null, socket?: Duplex) => void;

const TIMEOUT = 5000;

/**
 * Makes connections to one host through a proxy's CONNECT, in the form of `http.request`'s option
 * `createConnection`. HTTP calls have undici's own proxy support; `ws` has none.
 * @param origin `ws://host[:port]` or `wss://host[:port]`
 * @param secure TLS settings for the host behind the proxy
 */
export function tunnelThrough(proxy: Proxy, origin: string, secure: tls.ConnectionOptions) {
  const target = new URL(origin);
  const isSecure = target.protocol === 'wss:';
  const authority = `${target.hostname}:${target.port || (isSecure ? 443 : 80)}`;
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
  const servername = secure.servername ?? (isIP(host) ? '' : host);

  return (_options: unknown, connected: Connected): void => {
    const { request } = proxy.url.startsWith('https:') ? https : http;
    const headers: Record<string, string> = { host: authority };
    if (proxy.authorization !== undefined) headers['proxy-authorization'] = proxy.authorization;
    const connect = request(proxy.url, {
      method: 'CONNECT',
      path: authority,
      headers,
      agent: false,
      timeout: TIMEOUT,
    });
    const refuse = (code: string): void => {
      connected(Object.assign(new Error('The proxy gave no tunnel.'), { code }));
    };
    connect.once('connect', (response, socket) => {
      socket.setTimeout(0);
      if (response.statusCode !== 200) {
        socket.destroy();
        refuse(`PROXY_${response.statusCode ?? 0}`);
      } else {
        // The host is what the certificate is checked for if there is no server name, as of an IP address.
        const options = { ...secure, socket, host, servername };
        connected(null, isSecure ? tls.connect(options) : socket);
      }
    });
    connect.once('response', (response) => {
      response.destroy();
      refuse(`PROXY_${response.statusCode ?? 0}`);
    });
    connect.once('timeout', () =>
      connect.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })),
    );
    connect.on('error', (error) => connected(error));
    connect.end();
  };
}
