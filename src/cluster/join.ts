import { DeviceCloudError } from '../errors';
import type { Cluster, ClusterOptions } from './cluster';
import { Member } from './member';
import { openRedisStore } from './redis/redis-store';
import { readClusterSettings } from './cluster-settings';
import { StoreError, type Store, type StoreInfo } from './store';
import type { ClusterMember, ClusterSettings } from './types';

/** How long a test of the settings waits for a connection, and how often it checks, in ms. */
const TEST = { patience: 5000, pause: 50 };

/** Joins a cluster: see `joinCluster` of the package. */
export async function join(settings: ClusterSettings): Promise<ClusterMember> {
  const { lease, store } = readClusterSettings(settings);
  return new Member({ store: await openRedisStore(store), lease });
}

/** Joins on an open store; for tests, whose members share one in memory. */
export const joinOn = (store: Store, options: Omit<ClusterOptions, 'store'> = {}): ClusterMember =>
  new Member({ store, ...options });

/** The membership as a client uses it. @throws DeviceCloudError `NOT_CONFIGURED` if it is anything else */
export function clusterOf(member: ClusterMember): Cluster {
  if (member instanceof Member) return member.cluster;
  throw new DeviceCloudError(
    'NOT_CONFIGURED',
    'The cluster must be what joinCluster has returned.',
  );
}

/** Tries settings without joining: see `testCluster` of the package. */
export async function test(settings: ClusterSettings): Promise<StoreInfo> {
  const store = await openRedisStore(readClusterSettings(settings).store);
  try {
    return await answerOf(store);
  } finally {
    await store.close();
  }
}

async function answerOf(store: Store): Promise<StoreInfo> {
  const began = performance.now();
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
}
