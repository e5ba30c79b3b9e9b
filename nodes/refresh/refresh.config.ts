import { MANY, type ManyConfig } from '../common/shared.config';

export interface RefreshConfig extends ManyConfig {
  /** How a device that does not answer is handled. */
  offline: 'error' | 'answer';
}

export const DEFAULTS: RefreshConfig = { ...MANY, offline: 'error' };
