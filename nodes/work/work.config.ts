import { TYPED, type Datatype } from '../common/shared.config';

export const DEFAULTS = {
  app: '',
  datatype: 'auto-detect' as Datatype,
  ...TYPED,
  /** When an upload counts as handled: once its message is sent, or when an ack node says so. */
  acknowledge: 'sent' as 'sent' | 'ack',
  /** Uploads that are not acknowledged at a time. */
  inFlight: 16 as number | string,
  /** Seconds after which an upload that was not acknowledged is delivered again. */
  redeliver: 60 as number | string,
  /** How often an upload is delivered; then it is a dead letter. */
  attempts: 5 as number | string,
};
export type WorkConfig = typeof DEFAULTS;

/** The limits of the numbers. The library has the same. */
export const LIMITS = {
  inFlight: { min: 1, max: 10_000 },
  redeliver: { min: 1, max: 86_400 },
  attempts: { min: 1, max: 1000 },
} as const;
