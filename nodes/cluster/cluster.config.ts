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
  /** Seconds after which the devices of a process that is gone are taken over. */
  lease: number | string;
}

/** Credentials of the config node. Each may be `${ENV}`. */
export interface ClusterCredentials {
  user?: string;
  password?: string;
}

export const DEFAULTS: ClusterConfig = { url: '', sentinels: '', master: '', tls: '', lease: 5 };

export const LEASE = { min: 2, max: 60 } as const;
/** What the test of a cluster found. */
export interface ClusterTestResult {
  ok: boolean;
  code?: string;
  message?: string;
  /** The npm package that has to be installed. */
  missingPackage?: string;
  /** Why it was not tried, and the settings concerned. */
  reason?: 'retype' | 'variable' | 'network';
  settings?: string[];
  /** What the server is, and how it is set. */
  product?: string;
  version?: string;
  persistence?: 'none' | 'snapshots' | 'log' | 'unknown';
  eviction?: string;
  /** Seconds that the server's clock is ahead of this machine's. */
  clockSkew?: number;
  /** The rights that the user lacks, in the words of an ACL, such as `+info`. */
  forbidden?: readonly string[];
  /** The processes of each deployed application that uses the cluster. */
  apps?: { name: string; members: readonly string[] }[];
}
