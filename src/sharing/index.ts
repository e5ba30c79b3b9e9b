import type { Channels } from '../channel/channel-pool';
import { clusterOf } from '../cluster/join';
import type { Cluster } from '../cluster/cluster';
import type { ClusterMember } from '../cluster/types';
import type { Listening } from '../recovery/listen';
import { SharedListening } from './shared-listening';

/** What a client shares with the other processes of its cluster. */
export interface Sharing {
  readonly cluster: Cluster;
  readonly listening: SharedListening;
  close(): void;
}

/** @throws DeviceCloudError `NOT_CONFIGURED` if it is not what `joinCluster` has returned */
export function share(member: ClusterMember, listening: Listening, channels: Channels): Sharing {
  const cluster = clusterOf(member);
  const shared = new SharedListening(cluster, listening, channels);
  return {
    cluster,
    listening: shared,
    close() {
      shared.close();
    },
  };
}
