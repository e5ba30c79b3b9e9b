import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { Pool, ProxyAgent, type Dispatcher } from 'undici';
import { fault, refusedBy, speaksFirst, type Proxy } from './proxy';
import type { TlsSettings } from './tls';

/** The time limit for establishing a connection, in ms; a command is better refused early than late. */
const CONNECT_TIMEOUT = 5000;

/** The connections to a proxy. undici names the status of a refused tunnel only in its message; this one has it in the code. */
class ProxyPool extends Pool {
  override async connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    const data = await super.connect(options);
    const isTunnel = data.statusCode === 200;
    // undici drops such a tunnel and at once asks for another one, until the call is out of time.
    if (isTunnel && data.socket.readableLength === 0) return data;
    data.socket.on('error', () => undefined).destroy();
    throw isTunnel ? speaksFirst() : refusedBy(data.statusCode);
  }
}

/**
 * The HTTP connections of one application: a pool of its own, never undici's global one, without
 * redirects, retries or decompression. Its queue stays empty, since the limiter comes before it.
 */
export function createDispatcher(
  origin: string,
  connections: number,
  tls: TlsSettings | undefined,
  proxy: Proxy | undefined,
): Dispatcher {
  const shared = { connections, pipelining: 1, keepAliveMaxTimeout: 30_000 };
  if (!proxy) {
    return new Pool(origin, { ...shared, connect: { timeout: CONNECT_TIMEOUT, ...tls } });
  }
  return new ProxyAgent({
    ...shared,
    uri: proxy.url,
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization }),
    proxyTls: { timeout: CONNECT_TIMEOUT },
    requestTls: { timeout: CONNECT_TIMEOUT, ...tls },
    // A proxy that never answers CONNECT would hold a connection of ours for undici's five minutes.
    clientFactory: (proxyOrigin, options) =>
      new ProxyPool(proxyOrigin, { ...options, headersTimeout: CONNECT_TIMEOUT }),
  });
}

/** Tunnels to one host. */
export interface Tunnels {
  /** Makes a connection, in the form of `http.request`'s option `createConnection`. */
  readonly open: (options: unknown, connected: (error: unknown, socket?: Duplex) => void) => void;
  /** Ends tunnels that are not established yet, which their callers cannot do. */
  close(): void;
}

/**
 * Makes connections to one host through a proxy, for channels: `ws` has no proxy support. https-proxy-agent 7.0.6 is no
 * substitute: it accepts any certificate that is valid for localhost when the host is an IP address, leaves an abandoned
 * CONNECT open, and reports a refusal of the proxy as one of the service.
 * @param origin `ws://host[:port]` or `wss://host[:port]`
 * @param secure makes TLS of a tunnel to `wss:`
 */
export function tunnelsThrough(
  proxy: Proxy,
  origin: string,
  secure: ((options: ConnectionOptions) => Duplex) | undefined,
): Tunnels {
  const target = new URL(origin);
  const path = `${target.hostname}:${target.port || (secure ? 443 : 80)}`;
  // The host is what the certificate is checked for if there is no server name, as of an IP address.
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
  const headers: Record<string, string> = { host: path };
  if (proxy.authorization !== undefined) headers['proxy-authorization'] = proxy.authorization;
  const pool = new ProxyPool(proxy.url);
  return {
    open(_options, connected) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(fault('ETIMEDOUT')), CONNECT_TIMEOUT);
      void pool
        .connect({ origin: proxy.url, path, headers, signal: late.signal })
        .finally(() => clearTimeout(timer))
        .then(({ socket }) => (secure ? secure({ socket, host }) : socket))
        .then((socket) => connected(null, socket), connected);
    },
    close: () => void pool.destroy(fault('ECANCELED')),
  };
}
