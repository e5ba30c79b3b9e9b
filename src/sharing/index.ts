import type { Channels } from '../channel/channel-pool';
import { clusterOf } from '../cluster/join';
import type { Cluster } from '../cluster/cluster';
import type { ClusterMember } from '../cluster/types';
import type { Listening } from '../recovery/listen';
import { ExclusiveCommands, type Exclusive } from './exclusive';
import { SharedListening } from './shared-listening';

/** What a client shares with the other processes of its cluster. */
export interface Sharing {
  readonly cluster: Cluster;
  readonly listening: SharedListening;
  /** Keeps its commands and those of the others apart. */
  readonly exclusive: Exclusive;
  close(): void;
}

/** What of a client takes part. */
export interface SharedParts {
  readonly listening: Listening;
  readonly channels: Channels;
  /** Milliseconds between two commands to one device. */
  readonly gap: number;
  /** Why a signal aborted, without secrets. */
  readonly explain: (signal: AbortSignal) => string;
}

/** @throws DeviceCloudError `NOT_CONFIGURED` if it is not what `joinCluster` has returned */
export function share(member: ClusterMember, parts: SharedParts): Sharing {
  const cluster = clusterOf(member);
  const { listening, channels, gap, explain } = parts;
  const exclusive = new ExclusiveCommands(cluster, gap, explain);
  const shared = new SharedListening(cluster, listening, channels);
  return {
    cluster,
    listening: shared,
    exclusive: exclusive.run,
    close() {
      exclusive.close();
      shared.close();
    },
  };
}
