import { DATATYPES, firstOf, TYPED } from '../common/shared.config';

export const LISTEN_TYPE = 'device-cloud-listen';

export const CHOICES = {
  devices: ['list', 'online', 'group', 'dynamic'],
  datatype: DATATYPES,
  recover: ['restart', 'reconnect', 'off'],
} as const;

export const DEFAULTS = {
  app: '',
  devices: firstOf(CHOICES.devices),
  chipids: [] as string[],
  /** Of the device book; empty: all of its devices. */
  group: '',
  /** Seconds between two readings of the online list. */
  refresh: 60 as number | string,
  datatype: firstOf(CHOICES.datatype),
  ...TYPED,
  /** On the built-in simulator, which forgets everything with Node-RED, `restart` is as `reconnect`. */
  recover: firstOf(CHOICES.recover),
};
export type ListenConfig = typeof DEFAULTS;
