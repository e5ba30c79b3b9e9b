import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type { Proxy } from './proxy';

/** The callback of Node.js for the connection or the error. */
type Connected = (error: Error | null, socket?: Duplex) => void;

const TIMEOUT = 5000;

const fault = (code: string): Error =>
  Object.assign(new Error('The proxy gave no tunnel.'), { code });

/** The error for a proxy that answers CONNECT with another status than 200; its code names that status. */
export const refusedBy = (statusCode: number): Error => fault(`PROXY_${statusCode}`);

/**
 * The error for a tunnel on which data arrives before any was sent: with or without TLS, the service
 * waits for the client, so the tunnel does not lead to one.
 */
export const speaksFirst = (): Error => fault('EPROTO');

/** Tunnels to one host. */
export interface Tunnels {
  /** Makes a connection, in the form of `http.request`'s option `createConnection`. */
  readonly open: (options: unknown, connected: Connected) => void;
  /** Destroys tunnels that are not established yet, which their callers cannot do. */
  close(): void;
}

/**
 * Makes connections to one host through a proxy's CONNECT. HTTP calls have undici's own proxy
 * support; `ws` has none. https-proxy-agent 7.0.6 is no substitute: it accepts any certificate that is
 * valid for localhost when the host is an IP address, leaves an abandoned CONNECT open, and
 * reports a refusal of the proxy as one of the service.
 * @param origin `ws://host[:port]` or `wss://host[:port]`
 * @param secure makes TLS of a tunnel to `wss:`
 */
export function tunnelsThrough(
  proxy: Proxy,
  origin: string,
  secure: ((options: ConnectionOptions) => Duplex) | undefined,
): Tunnels {
  const target = new URL(origin);
  const authority = `${target.hostname}:${target.port || (secure ? 443 : 80)}`;
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
  const headers: Record<string, string> = { host: authority };
  if (proxy.authorization !== undefined) headers['proxy-authorization'] = proxy.authorization;
  const pending = new Set<http.ClientRequest>();

  // The host is what the certificate is checked for if there is no server name, as of an IP address.
  const wrap = (socket: Socket): Duplex => (secure ? secure({ socket, host }) : socket);

  return {
    open(_options, connected) {
      const { request } = proxy.url.startsWith('https:') ? https : http;
      const connect = request(proxy.url, {
        method: 'CONNECT',
        path: authority,
        headers,
        agent: false,
      });
      // Over all of it: a time-out of the socket would start again with each byte of the proxy.
      const timer = setTimeout(() => connect.destroy(fault('ETIMEDOUT')), TIMEOUT);
      const done = (): void => {
        clearTimeout(timer);
        pending.delete(connect);
      };
      pending.add(connect);
      // Node.js emits it for every answer to a CONNECT, a refusal among them.
      connect.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
        done();
        if (statusCode === 200) {
          if (head.length > 0) socket.unshift(head);
          connected(null, wrap(socket));
          return;
        }
        socket.destroy();
        connected(refusedBy(statusCode));
      });
      connect.on('error', (error) => {
        done();
        connected(error);
      });
      connect.end();
    },
    close() {
      for (const connect of pending) connect.destroy(fault('ECANCELED'));
    },
  };
}
