import { Pool, ProxyAgent, type Dispatcher } from 'undici';
import type { Proxy } from './proxy';
import type { TlsSettings } from './settings';

/** Milliseconds a connection may take to come about; a command is better refused early than late. */
const CONNECT_TIMEOUT = 5000;

/**
 * The HTTP connections of one application: a pool of its own, never undici's global one, without
 * redirects, retries or decompression. Its queue stays empty, since permits stand before it.
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
      new Pool(proxyOrigin, { ...options, headersTimeout: CONNECT_TIMEOUT }),
  });
}
