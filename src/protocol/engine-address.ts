import type { ConnectionOptions } from 'node:tls';
import { notConfigured } from '../errors';

/** Where the engine of a cluster is, as a user says it. */
export interface EngineAddress {
  /** `redis://` or `rediss://`. */
  readonly url?: string;
  /** Hosts, with or without port, separated by commas; instead of `url`. */
  readonly sentinels?: string;
  /** The name under which the Sentinels know the primary. */
  readonly master?: string;
  readonly user?: string;
  readonly password?: string;
}

export interface EngineSettings extends EngineAddress {
  /** As of `tls.connect` of Node.js. */
  readonly tls?: ConnectionOptions;
}

/** How processes share devices. */
export interface ClusterSettings extends EngineSettings {
  /** Milliseconds after which a process that does not answer has lost its devices. */
  readonly lease: number;
}

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Where it is, checked. */
export interface Address {
  /** One engine, or its Sentinels. */
  readonly hosts: readonly HostAndPort[];
  readonly isTls: boolean;
  readonly database: number;
  /** undefined unless the hosts are Sentinels. */
  readonly master: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/**
 * Checks an address. No error repeats it, since it may contain a password.
 * @param hasTls whether there are settings for TLS
 * @throws DeviceCloudError `NOT_CONFIGURED`
 */
export function readAddress(settings: EngineAddress, hasTls: boolean): Address {
  const { url = '', sentinels = '', master = '' } = settings;
  const user = settings.user || undefined;
  const password = settings.password || undefined;
  if (sentinels.trim() === '') {
    const { protocol, username, pathname, ...parsed } = readUrl(url.trim());
    return {
      hosts: [hostOf(parsed, REDIS_PORT)],
      isTls: protocol === 'rediss:' || hasTls,
      database: Number(pathname.slice(1)),
      master: undefined,
      user: user ?? (decode(username) || undefined),
      password: password ?? (decode(parsed.password) || undefined),
    };
  }
  if (url.trim() !== '')
    throw notConfigured('The cluster has both a url and sentinels: leave one of them empty.');
  if (master === '') throw notConfigured('The sentinels need the name of the master.');
  const hosts = sentinels.split(',').map((text) => readSentinel(text.trim()));
  return { hosts, isTls: hasTls, database: 0, master, user, password };
}

function readUrl(
  text: string,
): Pick<URL, 'protocol' | 'username' | 'password' | 'pathname' | 'hostname' | 'port'> {
  if (text === '')
    throw notConfigured('The cluster needs a url, redis:// or rediss://, or sentinels.');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw notConfigured(
      'The url of the cluster must begin with redis:// or rediss://, followed by one host.',
    );
  if (!/^(\/\d{0,4})?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    throw notConfigured(
      'The url of the cluster may have the number of a database after the host, such as /1, and nothing else.',
    );
  const { protocol, username, password, pathname, hostname, port } = url;
  return { protocol, username, password, pathname, hostname, port };
}

function readSentinel(text: string): HostAndPort {
  const whole = `redis://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url || url.hostname === '' || url.username !== '' || !/^\/?$/.test(url.pathname))
    throw notConfigured('Each of the sentinels must be a host, or a host and a port, host:26379.');
  return hostOf(url, SENTINEL_PORT);
}

/** Sockets take IPv6 addresses without the brackets of a URL. */
const hostOf = (
  { hostname, port }: Pick<URL, 'hostname' | 'port'>,
  usual: number,
): HostAndPort => ({
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
