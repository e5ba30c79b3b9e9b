import { notConfigured } from '../../errors';

/** Where an engine is, and the user. */
export interface RedisAddress {
  /** `redis://` or `rediss://`; several of a Redis Cluster, comma separated. Omitted with `sentinels`. */
  readonly url?: string;
  /** Host and port of each Sentinel, comma separated. */
  readonly sentinels?: string;
  /** The name under which the Sentinels know the primary. */
  readonly master?: string;
  readonly user?: string;
  readonly password?: string;
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** A checked {@link RedisAddress}. */
export interface Endpoints {
  readonly hosts: readonly HostAndPort[];
  readonly isTls: boolean;
  readonly database: number;
  /** Those of the hosts that are Sentinels, and the name of the primary; undefined where they are engines. */
  readonly master: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

const partsOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/**
 * Checks an address. No error repeats it, since it may contain a password.
 * @throws DeviceCloudError `NOT_CONFIGURED`
 */
export function readAddress(address: RedisAddress): Endpoints {
  const { url = '', sentinels = '', master = '' } = address;
  const credentials = { user: address.user || undefined, password: address.password || undefined };
  if (sentinels.trim() !== '') {
    if (url.trim() !== '')
      throw notConfigured('The cluster has both a url and sentinels: leave one of them empty.');
    if (master === '') throw notConfigured('The sentinels need the name of the master.');
    const hosts = partsOf(sentinels).map((text) => readHost(text, SENTINEL_PORT));
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
    hosts: urls.map(({ hostname, port }) => hostOf(hostname, Number(port || REDIS_PORT))),
    isTls: first.protocol === 'rediss:',
    database,
    master: undefined,
    user: credentials.user ?? (decode(first.username) || undefined),
    password: credentials.password ?? (decode(first.password) || undefined),
  };
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function readUrl(text: string): URL {
  const url = parse(text);
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw notConfigured('The url of the cluster must begin with redis:// or rediss:// and a host.');
  if (!/^(\/\d{0,4})?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    throw notConfigured(
      'The url of the cluster may have the number of a database after the host, such as /1, and nothing else.',
    );
  return url;
}

function readHost(text: string, usual: number): HostAndPort {
  const url = parse(`redis://${text}`);
  if (!url || url.hostname === '' || url.username !== '' || !/^\/?$/.test(url.pathname))
    throw notConfigured('Each of the sentinels must be a host, or a host and a port, host:26379.');
  return hostOf(url.hostname, Number(url.port || usual));
}

/** Sockets take IPv6 addresses without the brackets of a URL. */
const hostOf = (host: string, port: number): HostAndPort => ({
  host: host.replace(/^\[(.*)\]$/, '$1'),
  port,
});

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notConfigured('The user and the password in the url of the cluster must be URL-encoded.');
  }
}
