import { TYPED, type Datatype } from '../common/shared.config';

export const LISTEN_TYPE = 'device-cloud-listen';

export const DEFAULTS = {
  app: '',
  devices: 'list' as 'list' | 'online' | 'group' | 'dynamic',
  chipids: [] as string[],
  /** Of the device book; empty: all of its devices. */
  group: '',
  /** Seconds between two readings of the online list. */
  refresh: 60 as number | string,
  datatype: 'auto-detect' as Datatype,
  ...TYPED,
  /** On the built-in simulator, which forgets everything with Node-RED, `restart` is as `reconnect`. */
  recover: 'restart' as 'off' | 'reconnect' | 'restart',
};
export type ListenConfig = typeof DEFAULTS;
