export const CLUSTER_TYPE = 'device-cloud-cluster';

/** Properties of the config node `device-cloud-cluster`: an engine by which Node-RED processes share applications. */
export interface ClusterConfig {
  /** `redis://` or `rediss://`, host and port; several of a Redis Cluster, comma separated. Or `sentinels`. */
  url: string;
  /** Host and port of each Sentinel, comma separated. */
  sentinels: string;
  /** The name under which the Sentinels know the primary. */
  master: string;
  /** Id of a core `tls-config` node, or empty. */
  tls: string;
  /** Seconds after which the devices of a process that is gone are taken over, default {@link LEASE}. */
  lease: number | string;
}

/** Credentials of the config node. Each may be `${ENV}`. */
export interface ClusterCredentials {
  user?: string;
  password?: string;
}

export const LEASE = { usual: 5, min: 2, max: 60 } as const;
