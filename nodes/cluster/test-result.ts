// What the test of a cluster answers, for both halves: nothing here needs Node.js.

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
