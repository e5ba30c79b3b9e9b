import type { ClusterMember, ClusterSettings, StoreInfo } from './cluster/types';

/** Loaded with the first cluster: a single process needs nothing of it. */
const clusters = (): typeof import('./cluster/member') =>
  require('./cluster/member') as typeof import('./cluster/member');

/**
 * Joins the processes that share the devices of an application, on Redis or Valkey. The connection is made in the
 * background: until then, the state is `joining`, and clients with this membership emit nothing. It needs the package
 * `ioredis`.
 * @throws DeviceCloudError `NOT_CONFIGURED` if a setting is wrong, or `ioredis` is not installed
 */
export const joinCluster = async (settings: ClusterSettings): Promise<ClusterMember> =>
  clusters().join(settings);

/**
 * Tries the settings of a cluster without joining it.
 * @returns what the engine is and how it is set
 * @throws DeviceCloudError `UNREACHABLE` within some seconds, `NOT_CONFIGURED` as {@link joinCluster}
 */
export const testCluster = async (settings: ClusterSettings): Promise<StoreInfo> =>
  clusters().test(settings);
