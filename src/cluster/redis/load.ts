import { DeviceCloudError } from '../../errors';
import type { TlsSettings } from '../../http/tls';
import type { Endpoints } from './addresses';
import { explainFaults, isReadOnly } from './connect-fault';
import { offerLogin } from './sentinel-login';

/** What is used of a connection of `ioredis`. */
export interface Connection {
  readonly status: string;
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  on(event: 'connect' | 'ready', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'message', listener: (channel: string, text: string) => void): unknown;
  /** @param reconnect whether it is replaced by a new connection */
  disconnect(reconnect?: boolean): void;
}

export interface ConnectionOptions {
  readonly endpoints: Endpoints;
  readonly tls: TlsSettings | undefined;
  /** Milliseconds within which a connection must be made, and a command answered. */
  readonly limit: number;
  /** The name in the engine's list of clients. */
  readonly name: string;
  /** Whether answers may take longer than the limit, since large commands are sent. */
  readonly isLarge: boolean;
}

/** Opens a connection, which reconnects by itself until it is disconnected. */
export type Connect = (options: ConnectionOptions) => Connection;

/** The longest pause before a reconnect, in ms: a member that comes back late loses its devices. */
const LONGEST = 500;

/** Milliseconds for which a connection that is being closed waits for its peer. */
const DISCONNECT = 100;

const retry = (attempt: number): number => Math.min(LONGEST, 50 * attempt);

/**
 * Loads the client library, which only a cluster needs.
 * @throws DeviceCloudError `NOT_CONFIGURED` if it is not installed
 */
export async function loadClient(): Promise<Connect> {
  const library = await import('ioredis').catch(() => undefined);
  if (!library) {
    const missing = new DeviceCloudError(
      'NOT_CONFIGURED',
      'A cluster needs the package ioredis, which is not installed. Install it where Node-RED has its nodes: ' +
        'npm install ioredis@6',
    );
    throw Object.assign(missing, { missingPackage: 'ioredis' });
  }
  const { Redis, Cluster } = library;
  return ({ endpoints, tls, limit, name, isLarge }) => {
    const { hosts, isTls, database, master, user, password } = endpoints;
    const secure = isTls || tls ? { tls: { ...tls } } : {};
    const common = {
      ...(user === undefined ? {} : { username: user }),
      ...(password === undefined ? {} : { password }),
      ...secure,
      connectionName: name,
      connectTimeout: limit,
      // Ends a connection whose peer is silent: otherwise a stopped engine would keep it, and a failover go unnoticed.
      ...(isLarge ? {} : { socketTimeout: 2 * limit }),
      // What was not sent by then is not to be sent any more.
      disconnectTimeout: DISCONNECT,
      // Commands neither wait for a connection nor are repeated: that is decided by this package, not by the client.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      // The connection must find the new primary.
      reconnectOnError: isReadOnly,
    };
    if (master !== undefined) {
      const redis = new Redis({
        ...common,
        ...(secure.tls ? { sentinelTLS: secure.tls, enableTLSForSentinelMode: true } : {}),
        sentinels: hosts.map((host) => ({ ...host })),
        name: master,
        sentinelCommandTimeout: limit,
        sentinelRetryStrategy: retry,
        retryStrategy: retry,
      });
      offerLogin(redis, user, password);
      explainFaults(redis, 'sentinelError', hosts, secure.tls, limit);
      return redis;
    }
    const [only] = hosts;
    if (hosts.length === 1 && only)
      return new Redis({ ...common, ...only, db: database, retryStrategy: retry });
    const cluster = new Cluster(
      hosts.map((host) => ({ ...host })),
      {
        redisOptions: common,
        enableOfflineQueue: false,
        clusterRetryStrategy: retry,
        slotsRefreshTimeout: limit,
        // Otherwise it would connect to the IP address of a name, which few certificates contain.
        ...(secure.tls ? { dnsLookup: (name, found) => found(null, name) } : {}),
      },
    );
    explainFaults(cluster, 'error', hosts, secure.tls, limit);
    return cluster;
  };
}
