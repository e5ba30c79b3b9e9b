import { MANY } from '../common/shared.config';

export const DEFAULTS = {
  ...MANY,
  /** How a device that does not answer is handled. */
  offline: 'error' as 'error' | 'answer',
};
export type RefreshConfig = typeof DEFAULTS;
