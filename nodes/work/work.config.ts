import type { Datatype } from '../common/action.config';

export const WORK_TYPE = 'device-cloud-work';

export interface WorkConfig {
  app: string;
  datatype: Datatype;
  /** When an upload counts as handled: once its message is sent, or when an ack node says so. */
  acknowledge: 'sent' | 'ack';
  /** Uploads that are not acknowledged at a time. */
  inFlight: number | string;
  /** Seconds after which an upload that was not acknowledged is delivered again. */
  redeliver: number | string;
  /** How often an upload is delivered; then it is a dead letter. */
  attempts: number | string;
}

/** The default and the limits of each property. The library has the same. */
export const LIMITS = {
  inFlight: { usual: 16, min: 1, max: 10_000 },
  redeliver: { usual: 60, min: 1, max: 86_400 },
  attempts: { usual: 5, min: 1, max: 1000 },
} as const;
