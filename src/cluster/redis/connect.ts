import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { DeviceCloudError, notConfigured } from '../../errors';
import type { TlsSettings } from '../../http/tls';
import type { ClusterSettings, WrongSetting } from '../types';

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Where an engine is, and the user. */
interface Endpoints {
  readonly hosts: readonly HostAndPort[];
  readonly isTls: boolean;
  readonly database: number;
  /** The name of the primary if the hosts are Sentinels; undefined if they are engines. */
  readonly master: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/**
 * Checks an address. No error repeats it, since it may contain a password.
 * @throws DeviceCloudError `NOT_CONFIGURED`
 */
export function readAddress(address: Partial<ClusterSettings>): Endpoints {
  const { url = '', sentinels = '', master = '' } = address;
  const credentials = { user: address.user || undefined, password: address.password || undefined };
  if (sentinels.trim() !== '') {
    if (url.trim() !== '')
      throw notConfigured('The cluster has both a url and sentinels: leave one of them empty.');
    if (master === '') throw notConfigured('The sentinels need the name of the master.');
    const hosts = partsOf(sentinels).map(readHost);
    return { hosts, isTls: false, database: 0, master, ...credentials };
  }
  const urls = partsOf(url).map(readUrl);
  const [first] = urls;
  if (!first) throw notConfigured('The cluster needs a url, redis:// or rediss://, or sentinels.');
  if (urls.some(({ protocol }) => protocol !== first.protocol))
    throw notConfigured('All addresses of the cluster must be redis:// or all rediss://.');
  const database = Number(first.pathname.slice(1));
  if (urls.length > 1 && database !== 0)
    throw notConfigured('A Redis Cluster has no database but 0.');
  return {
    hosts: urls.map((each) => hostOf(each, REDIS_PORT)),
    isTls: first.protocol === 'rediss:',
    database,
    master: undefined,
    user: credentials.user ?? (decode(first.username) || undefined),
    password: credentials.password ?? (decode(first.password) || undefined),
  };
}

const partsOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw notConfigured('The url of the cluster must begin with redis:// or rediss:// and a host.');
  if (!/^(\/\d{0,4})?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    throw notConfigured(
      'The url of the cluster may have the number of a database after the host, such as /1, and nothing else.',
    );
  return url;
}

function readHost(text: string): HostAndPort {
  const whole = `redis://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url || url.hostname === '' || url.username !== '' || !/^\/?$/.test(url.pathname))
    throw notConfigured('Each of the sentinels must be a host, or a host and a port, host:26379.');
  return hostOf(url, SENTINEL_PORT);
}

/** Sockets take IPv6 addresses without the brackets of a URL. */
const hostOf = ({ hostname, port }: URL, usual: number): HostAndPort => ({
  host: hostname.replace(/^\[(.*)\]$/, '$1'),
  port: Number(port || usual),
});

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notConfigured('The user and the password in the url of the cluster must be URL-encoded.');
  }
}

/** What is used of a connection of `ioredis`. */
export interface Connection {
  readonly status: string;
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  on(event: 'connect' | 'ready', listener: () => void): unknown;
  on(event: 'error' | 'sentinelError', listener: (error: Error) => void): unknown;
  on(event: 'message', listener: (channel: string, text: string) => void): unknown;
  emit(event: 'error', error: Error): unknown;
  /** @param reconnect whether it is replaced by a new connection */
  disconnect(reconnect?: boolean): void;
}

/** The name in the engine's list of clients. */
const NAME = 'device-cloud';

/** The longest pause before a reconnect, in ms: a member that comes back late loses its devices. */
const LONGEST_PAUSE = 500;

/** Milliseconds for which a connection that is being closed waits for its peer. */
const DISCONNECT = 100;

const retry = (attempt: number): number => Math.min(LONGEST_PAUSE, 50 * attempt);

/**
 * Loads the client library, which only a cluster needs.
 * @param limit milliseconds within which a connection must be made, and a command answered
 * @returns opens a connection, which reconnects by itself until it is disconnected. `isLarge`: answers may take longer than the
 *   limit, since large commands are sent
 * @throws DeviceCloudError `NOT_CONFIGURED` if it is not installed
 */
export async function loadClient(
  endpoints: Endpoints,
  tls: TlsSettings | undefined,
  limit: number,
): Promise<(isLarge: boolean) => Connection> {
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
  const { isTls, database, master, user, password } = endpoints;
  const secure = isTls || tls ? { tls: { ...tls } } : {};
  return (isLarge) => {
    const hosts = endpoints.hosts.map((host) => ({ ...host }));
    const common = {
      ...(user === undefined ? {} : { username: user }),
      ...(password === undefined ? {} : { password }),
      ...secure,
      connectionName: NAME,
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
        sentinels: hosts,
        name: master,
        sentinelCommandTimeout: limit,
        sentinelRetryStrategy: retry,
        retryStrategy: retry,
      });
      offerLogin(redis, redis.options, user, password);
      explainFaults(redis, 'sentinelError', hosts, secure.tls, limit);
      return redis;
    }
    const [only] = hosts;
    if (hosts.length === 1 && only)
      return new Redis({ ...common, ...only, db: database, retryStrategy: retry });
    const cluster = new Cluster(hosts, {
      redisOptions: common,
      enableOfflineQueue: false,
      clusterRetryStrategy: retry,
      slotsRefreshTimeout: limit,
      // Otherwise it would connect to the IP address of a name, which few certificates contain.
      ...(secure.tls ? { dnsLookup: (name, found) => found(null, name) } : {}),
    });
    explainFaults(cluster, 'error', hosts, secure.tls, limit);
    return cluster;
  };
}

/** A Sentinel's error without a password, or with a wrong user or password. */
const LOGIN_REFUSED = /NOAUTH|WRONGPASS/;

/**
 * Sentinels are asked without a password first. A Sentinel that requires it is sent the engine's, first with the user and
 * then without, since `requirepass` has no users.
 * @param options of the connection: the client reads them again for each Sentinel
 */
function offerLogin(
  redis: Pick<Connection, 'on'>,
  options: object,
  user: string | undefined,
  password: string | undefined,
): void {
  if (password === undefined) return;
  const logins = [['', ''], ...(user === undefined ? [] : [[user, password]]), ['', password]];
  let tried = 0;
  redis.on('sentinelError', ({ message }) => {
    if (!LOGIN_REFUSED.test(message)) return;
    const [sentinelUsername = '', sentinelPassword = ''] = logins[++tried % logins.length] ?? [];
    Object.assign(options, { sentinelUsername, sentinelPassword });
  });
}

/**
 * Makes a connection emit why a Sentinel or a node of a Redis Cluster cannot be reached, such as a wrong certificate:
 * the client itself says only that the connection was closed.
 * @param event of the client that says so
 * @param limit milliseconds
 */
function explainFaults(
  redis: Pick<Connection, 'status' | 'on' | 'emit'>,
  event: 'sentinelError' | 'error',
  hosts: readonly HostAndPort[],
  tls: TlsSettings | undefined,
  limit: number,
): void {
  let isAsking = false;
  let asked = 0;
  redis.on(event, (error) => {
    const host = hosts[asked % hosts.length];
    if (isAsking || !host || !isVague(error)) return;
    isAsking = true;
    asked++;
    void whyNot(host, tls, limit).then((why) => {
      isAsking = false;
      if (why === undefined || redis.status === 'end') return;
      redis.emit('error', new Error(`${host.host}:${host.port}: ${why}`));
    });
  });
}

/** Tries a connection. @returns why it failed; undefined if it succeeded */
function whyNot(
  host: HostAndPort,
  tls: TlsSettings | undefined,
  limit: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = tls ? connectTls({ ...tls, ...host }) : connectTcp({ ...host });
    const end = (why?: string): void => {
      socket.destroy();
      resolve(why);
    };
    socket.setTimeout(limit, () => end(`no connection within ${limit} ms`));
    socket.on('error', (error: Error) => end(error.message));
    socket.once(tls ? 'secureConnect' : 'connect', () => end());
  });
}

/** The error of a Redis Cluster says only that no node could be used; the error of its last node says why. */
export function causeOf(error: Error): Error {
  const { lastNodeError } = error as Error & { lastNodeError?: unknown };
  return lastNodeError instanceof Error ? lastNodeError : error;
}

/** Whether an error of the client says only that there is no connection. */
export const isVague = (error: Error): boolean =>
  causeOf(error).message.includes('Connection is closed');

const WRONG: readonly (readonly [RegExp, WrongSetting])[] = [
  [/^(?:WRONGPASS|NOAUTH|ERR invalid password|ERR AUTH )/, 'password'],
  [/NOPERM|can't run this command|user executing the script can't/, 'rights'],
  [/certificate|wrong version number|tlsv1 alert|ssl3_/i, 'tls'],
];

/** Which setting an error of the engine or of its connection shows to be wrong. */
export const wrongSetting = (text: string): WrongSetting | undefined =>
  WRONG.find(([form]) => form.test(text))?.[1];

/** A primary that was made a replica refuses to write. */
export const isReadOnly = (error: Error): boolean => error.message.startsWith('READONLY');
