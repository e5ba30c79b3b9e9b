import type { Datatype } from '../common/action.config';

export const LISTEN_TYPE = 'device-cloud-listen';

export interface ListenConfig {
  app: string;
  devices: 'list' | 'online' | 'dynamic';
  chipids: string[];
  /** Seconds between two readings of the online list, default 60. */
  refresh: number | string;
  datatype: Datatype;
  recover: 'off' | 'reconnect' | 'restart';
  /** One share of the devices, such as `${ORDINAL}/${COUNT}`; empty for all. A flow of version 0.1 has none. */
  shard?: string;
  /** Whether an upload goes on from here or into the cluster's queue. A flow of version 0.1 has none. */
  deliver?: 'here' | 'queue';
}

/** A share of the devices as text: an ordinal, which counts from 0, and a count. */
export const SHARD_FORM = /^\s*(\d{1,4})\s*\/\s*(\d{1,4})\s*$/;
export const MOST_SHARDS = 1024;
