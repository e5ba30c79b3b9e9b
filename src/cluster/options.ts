import { notConfigured } from '../errors';
import type { TlsSettings } from '../http/tls';
import { readInput } from '../input/values';
import { show } from '../util/show';
import type { ClusterSettings } from './types';

/** Where an engine is, and the user. */
export type RedisAddress = Pick<
  ClusterSettings,
  'url' | 'sentinels' | 'master' | 'user' | 'password'
>;

export interface RedisStoreOptions extends RedisAddress {
  readonly tls?: TlsSettings;
  /** Distinguishes the applications that share an engine. */
  readonly application: string;
  /** Milliseconds that a command may take, default 1000. */
  readonly limit?: number;
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
  /** The name of the primary if the hosts are Sentinels; undefined if they are engines. */
  readonly master: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** Milliseconds. */
const LEASE = { usual: 5000, least: 2000, most: 60_000 };

/** The longest time that a command of the store may take, in ms; at most the time between two beats. */
const LIMIT = 1000;

/** The longest text of a setting. */
const MAX_TEXT = 4096;

const TEXTS = ['url', 'sentinels', 'master', 'user', 'password'] as const;

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** Checks the settings of a cluster. @throws DeviceCloudError `NOT_CONFIGURED` */
export function readClusterSettings(settings: ClusterSettings): {
  lease: number;
  store: RedisStoreOptions;
} {
  return readInput('settings object of a cluster', () => {
    const lease = readLease(settings.lease);
    const application = readText(settings.application, 'application');
    if (application === undefined) throw notConfigured('The cluster needs the application.');
    const texts = TEXTS.flatMap((name) => {
      const text = readText(settings[name], name);
      return text === undefined ? [] : [[name, text] as const];
    });
    const { tls } = settings;
    const limit = Math.min(LIMIT, (lease * 1000) / 5);
    return {
      lease,
      store: { ...Object.fromEntries(texts), ...(tls && { tls }), application, limit },
    };
  });
}

/** Reads `lease`: the cluster counts in seconds. @throws DeviceCloudError `NOT_CONFIGURED` */
function readLease(lease: unknown = LEASE.usual): number {
  if (typeof lease === 'number' && lease >= LEASE.least && lease <= LEASE.most) return lease / 1000;
  throw notConfigured(
    `The lease of the cluster must be from ${LEASE.least / 1000} to ${LEASE.most / 1000} s, but is ${show(lease)} ms.`,
  );
}

/** No error repeats a value, since it may contain a password. */
function readText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && value.length <= MAX_TEXT) return value;
  throw notConfigured(`${name} of the cluster must be text of at most ${MAX_TEXT} characters.`);
}

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
