import { TYPED, type Datatype, type TypedConfig } from '../common/shared.config';

export interface WorkConfig extends TypedConfig {
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

export const DEFAULTS: WorkConfig = {
  app: '',
  datatype: 'auto-detect',
  ...TYPED,
  acknowledge: 'sent',
  inFlight: 16,
  redeliver: 60,
  attempts: 5,
};

/** The limits of the numbers. The library has the same. */
export const LIMITS = {
  inFlight: { min: 1, max: 10_000 },
  redeliver: { min: 1, max: 86_400 },
  attempts: { min: 1, max: 1000 },
} as const;
