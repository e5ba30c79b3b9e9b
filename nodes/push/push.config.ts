import { MANY, MESSAGE, WHEN } from '../common/shared.config';

export const DEFAULTS = {
  ...MANY,
  ...WHEN,
  ...MESSAGE,
  target: 'device' as 'device' | 'app',
  transport: 'http' as 'http' | 'channel',
};
export type PushConfig = typeof DEFAULTS;
