import type { ClusterMember, ClusterSettings, StoreInfo } from './types';
import { DeviceCloudError, notConfigured } from '../errors';
import type { KeptValue } from '../state/folder';
import { readInput } from '../input/values';
import { show } from '../util/show';

/** Milliseconds. */
const LEASE = { usual: 5000, least: 2000, most: 60_000 };

/** The longest time that a command of the store may take, in ms; at most the time between two beats. */
const LIMIT = 1000;

/** The longest text of a setting. */
const MAX_TEXT = 4096;

/** How long a test of the settings waits for a connection, and how often it checks, in ms. */
const TEST = { patience: 5000, pause: 50 };

const TEXTS = ['application', 'url', 'sentinels', 'master', 'user', 'password'] as const;

/** Loaded with the first cluster: a single process needs nothing of it. */
const room = (): typeof import('./sharing') => require('./sharing') as typeof import('./sharing');

/**
 * Joins the processes that share the devices of an application, on Redis or Valkey. The connection is made in the
 * background: until then, the state is `joining`, and clients with this membership emit nothing. It needs the package
 * `ioredis`.
 * @throws DeviceCloudError `NOT_CONFIGURED` if a setting is wrong, or `ioredis` is not installed
 */
export async function joinCluster(settings: ClusterSettings): Promise<ClusterMember> {
  const checked = readSettings(settings);
  const { Cluster, openRedisStore } = room();
  const store = await openRedisStore(checked);
  return new Cluster({ store, lease: checked.lease / 1000 });
}

/**
 * Tries the settings of a cluster without joining it.
 * @returns what the engine is and how it is set
 * @throws DeviceCloudError `UNREACHABLE` within some seconds, `NOT_CONFIGURED` as {@link joinCluster}
 */
export async function testCluster(settings: ClusterSettings): Promise<StoreInfo> {
  const checked = readSettings(settings);
  const { openRedisStore, StoreError } = room();
  const store = await openRedisStore(checked);
  const began = performance.now();
  try {
    for (;;) {
      try {
        return await store.info();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (performance.now() - began >= TEST.patience)
          throw new DeviceCloudError(
            'UNREACHABLE',
            error.isRefusal
              ? `The engine of the cluster answers, but does not work. ${error.message}`
              : `The engine of the cluster was not reached within ${TEST.patience / 1000} s. ${error.message}`,
          );
      }
      await new Promise((resolve) => setTimeout(resolve, TEST.pause));
    }
  } finally {
    await store.close();
  }
}

/** A value that all processes of a cluster keep together. @param name distinguishes the values of the application */
export function sharedValue(member: ClusterMember, name: string): KeptValue {
  const { clusterOf, SharedValue } = room();
  return new SharedValue(clusterOf(member), name);
}

/** Checks settings. No error repeats a text, which may contain a password. @throws DeviceCloudError `NOT_CONFIGURED` */
const readSettings = (
  settings: ClusterSettings,
): ClusterSettings & { lease: number; limit: number } =>
  readInput('settings object of a cluster', () => {
    const { lease = LEASE.usual, tls } = settings;
    if (!(typeof lease === 'number' && lease >= LEASE.least && lease <= LEASE.most))
      throw notConfigured(
        `The lease of the cluster must be from ${LEASE.least / 1000} to ${LEASE.most / 1000} s, but is ${show(lease)} ms.`,
      );
    const read: ClusterSettings = { application: '', ...(tls && { tls }) };
    for (const name of TEXTS) {
      const text: unknown = settings[name] ?? '';
      if (typeof text !== 'string' || text.length > MAX_TEXT)
        throw notConfigured(
          `${name} of the cluster must be text of at most ${MAX_TEXT} characters.`,
        );
      if (text !== '') read[name] = text;
    }
    if (read.application === '') throw notConfigured('The cluster needs the application.');
    return { ...read, lease, limit: Math.min(LIMIT, lease / 5) };
  });
