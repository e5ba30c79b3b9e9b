export const CHOICES = {};

/** Properties of the config node `device-cloud-cluster`: the Redis or Valkey on which processes share the devices of an application. */
export const DEFAULTS = {
  /** `redis://` or `rediss://`. */
  url: '',
  /** Hosts of Sentinels, separated by commas, instead of a url; and the name under which they know the primary. */
  sentinels: '',
  master: '',
  /** Id of a core `tls-config` node, or empty. */
  tls: '',
  /** Seconds after which a process that does not answer has lost its devices. */
  lease: 5 as number | string,
};
export type ClusterConfig = typeof DEFAULTS;

/** Bounds of a lease, in seconds. */
export const LEASE = { min: 2, max: 60 } as const;

/** Credentials of the config node. Each may be `${ENV}`. */
export interface ClusterCredentials {
  user?: string;
  password?: string;
}
