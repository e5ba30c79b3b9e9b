import { notConfigured } from '../errors';
import { readInput } from '../input/values';
import { show } from '../util/show';
import type { RedisStoreOptions } from './redis/redis-store';
import type { ClusterSettings } from './types';

/** Seconds. */
const LEASE = { usual: 5, least: 2, most: 60 };

/** The longest time that a command of the store may take, in ms; at most the time between two beats. */
const LIMIT = 1000;

/** The longest text of a setting. */
const MAX_TEXT = 4096;

const TEXTS = ['url', 'sentinels', 'master', 'user', 'password'] as const;

/** Reads `lease`, in seconds. @throws DeviceCloudError `NOT_CONFIGURED` */
function readLease(lease: unknown = LEASE.usual): number {
  if (typeof lease === 'number' && lease >= LEASE.least && lease <= LEASE.most) return lease;
  throw notConfigured(
    `The lease of the cluster must be a number of seconds from ${LEASE.least} to ${LEASE.most}, but is ${show(lease)}.`,
  );
}

/** No error repeats a value, since it may contain a password. */
function readText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && value.length <= MAX_TEXT) return value;
  throw notConfigured(`${name} of the cluster must be text of at most ${MAX_TEXT} characters.`);
}

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
