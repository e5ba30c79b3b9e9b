import { DATATYPES, firstOf, TYPED } from '../common/shared.config';

export const LISTEN_TYPE = 'device-cloud-listen';

export const CHOICES = {
  devices: ['list', 'online', 'group', 'dynamic'],
  datatype: DATATYPES,
  recover: ['restart', 'reconnect', 'off'],
  acknowledge: ['sent', 'ack'],
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
  /** When an upload is done: once it has left the node, or when the flow says so. */
  acknowledge: firstOf(CHOICES.acknowledge),
  /** Seconds until one that is not acknowledged is emitted again, and how often it is emitted at most. */
  redeliver: 60 as number | string,
  attempts: 5 as number | string,
};
export type ListenConfig = typeof DEFAULTS;

/** The limits of the numbers. */
export const LIMITS = {
  /** Each reading is a call to the service. */
  refresh: { min: 1, max: 86_400 },
  redeliver: { min: 1, max: 86_400 },
  attempts: { min: 1, max: 1000, isWhole: true },
} as const;
