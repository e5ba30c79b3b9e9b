import './own-fetch';
import { buildConnector, errors, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { errorCode } from './exchange';
import { REFUSES_CERTIFICATE } from './failures';
import { brokenOff, refusedBy, speaksFirst, type Proxy } from './proxy';
import { CONNECT_TIMEOUT, EACH_ADDRESS, secureContextOf, type TlsSettings } from './tls';
import type { Turns } from './turns';

/** HTTP connections of an application at most, and so calls at once. */
export const CONNECTIONS = 64;

/** The connections to a proxy. undici names the status of a refused tunnel only in its message; this one has it in the code. */
class ProxyPool extends Pool {
  override async connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    const data = await super.connect(options).catch((error: unknown) => {
      // For such an error undici at once asks for another tunnel, until the call is out of time: thousands a second.
      throw error instanceof errors.SocketError ? brokenOff() : error;
    });
    const isTunnel = data.statusCode === 200;
    // undici drops such a tunnel and, too, at once asks for another one.
    if (isTunnel && data.socket.readableLength === 0) return data;
    data.socket.on('error', () => undefined).destroy();
    throw isTunnel ? speaksFirst() : refusedBy(data.statusCode);
  }
}

/**
 * Ends a connection with the error that the server refuses the client's certificate, over TLS 1.3 only after the handshake:
 * undici would report that the other side has closed the connection, which comes next. Other errors must not end it, since an
 * answer may have arrived before. With its end, what is paused goes on first: undici adds its listeners after these.
 */
function endingWell(connect: buildConnector.connector, turns: Turns): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      socket?.once('error', (error: Error) => {
        if (REFUSES_CERTIFICATE.test(errorCode(error))) socket.destroy(error);
      });
      socket?.once('end', () => turns.end());
      callback(...result);
    });
}

/**
 * The HTTP connections of one application: a pool of its own, never undici's global one, without
 * redirects, retries or decompression. Its queue stays empty, since calls wait for a place before it.
 * @throws DeviceCloudError `NOT_CONFIGURED` if certificate or key cannot be used
 */
export function createDispatcher(
  origin: string,
  connections: number,
  tls: TlsSettings | undefined,
  proxy: Proxy | undefined,
  turns: Turns,
): Dispatcher {
  const connect = { timeout: CONNECT_TIMEOUT, ...EACH_ADDRESS };
  const secure = origin.startsWith('https:') && { ...tls, secureContext: secureContextOf(tls) };
  const shared = { connections, pipelining: 1, keepAliveMaxTimeout: 30_000 };
  if (!proxy) {
    const connector = buildConnector({ ...connect, ...secure });
    return new Pool(origin, { ...shared, connect: endingWell(connector, turns) });
  }
  return new ProxyAgent({
    ...shared,
    uri: proxy.url,
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization }),
    proxyTls: connect,
    requestTls: { ...connect, ...secure },
    factory: (tunnelled, { connect: tunnel, ...options }: Pool.Options) =>
      new Pool(tunnelled, {
        ...options,
        connect: endingWell(tunnel as buildConnector.connector, turns),
      }),
    // A proxy that never answers CONNECT would hold a connection of ours for undici's five minutes.
    clientFactory: (proxyOrigin, options) =>
      new ProxyPool(proxyOrigin, { ...options, headersTimeout: CONNECT_TIMEOUT }),
  });
}
