import { firstOf, MANY } from '../common/shared.config';

export const CHOICES = { offline: ['error', 'answer'] } as const;

export const DEFAULTS = {
  ...MANY,
  /** How a device that does not answer is handled. */
  offline: firstOf(CHOICES.offline),
};
export type RefreshConfig = typeof DEFAULTS;
