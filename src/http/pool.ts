import './own-fetch';
import { buildConnector, Pool, type Dispatcher } from 'undici';
import { errorCode, REFUSES_CERTIFICATE } from './failures';
import type { Tunnels } from './proxy';
import { CONNECT_TIMEOUT, EACH_ADDRESS, secureContextOf, type TlsSettings } from './tls';

/** HTTP connections of an application at most, and so calls at once. */
export const CONNECTIONS = 64;

type Controller = Pick<Dispatcher.DispatchController, 'pause' | 'resume'>;

/** Answers of which no more is read before the event loop has turned. */
export class Turns {
  readonly #paused = new Set<Controller>();

  /** Reads no more of an answer before the next turn. */
  await(controller: Controller): void {
    this.#paused.add(controller);
    controller.pause();
    setImmediate(() => this.#resume(controller));
  }

  /**
   * A connection ends: all go on at once. undici asserts that the answer of one that ends is not paused, where nobody can catch
   * it, so that the process would end. Its last piece and its end come in one turn where both arrive at once over TLS, or the
   * piece fills a buffer of Node.js.
   */
  end(): void {
    for (const controller of Array.from(this.#paused)) this.#resume(controller);
  }

  #resume(controller: Controller): void {
    if (this.#paused.delete(controller)) controller.resume();
  }
}

/** Makes connections, through a proxy if there are tunnels. @throws DeviceCloudError `NOT_CONFIGURED` as of {@link secureContextOf} */
function connectorOf(
  isSecure: boolean,
  tls: TlsSettings | undefined,
  tunnels: Tunnels | undefined,
): buildConnector.connector {
  const secure = isSecure && { ...tls, secureContext: secureContextOf(tls) };
  const connector = buildConnector({ timeout: CONNECT_TIMEOUT, ...EACH_ADDRESS, ...secure });
  if (!tunnels) return connector;
  return (options, callback) =>
    tunnels.open((error, socket) => {
      if (!socket) callback(error ?? new Error(), null);
      else if (isSecure) connector({ ...options, httpSocket: socket }, callback);
      else callback(null, socket);
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
  tunnels: Tunnels | undefined,
  turns: Turns,
): Dispatcher {
  const connect = connectorOf(origin.startsWith('https:'), tls, tunnels);
  return new Pool(origin, {
    connections,
    pipelining: 1,
    keepAliveMaxTimeout: 30_000,
    connect: (options, callback) =>
      connect(options, (...result) => {
        const [, socket] = result;
        // A server may refuse the client's certificate only after the handshake, over TLS 1.3: undici would report that it has closed the
        // connection, which comes next. Other errors must not end it, since an answer may have arrived before.
        socket?.once('error', (error: Error) => {
          if (REFUSES_CERTIFICATE.test(errorCode(error))) socket.destroy(error);
        });
        // What is paused goes on first: undici adds its listeners after these.
        socket?.once('end', () => turns.end());
        callback(...result);
      }),
  });
}
