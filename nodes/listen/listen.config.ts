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
}
