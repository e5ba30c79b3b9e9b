import type { ManyConfig } from '../common/action.config';

export const REFRESH_TYPE = 'device-cloud-refresh';

export interface RefreshConfig extends ManyConfig {
  /** How a device that does not answer is handled; default `error`. */
  offline?: 'error' | 'answer';
}
