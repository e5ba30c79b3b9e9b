import type { ManyConfig } from '../common/action.config';

export const REFRESH_TYPE = 'device-cloud-refresh';

export interface RefreshConfig extends ManyConfig {
  /** What becomes of a device that does not answer; default `error`. */
  offline?: 'error' | 'answer';
}
