import {
  firstOf,
  MANY,
  MESSAGE,
  MESSAGE_CHOICES,
  WHEN,
  WHEN_CHOICES,
} from '../common/shared.config';

export const CHOICES = {
  ...WHEN_CHOICES,
  ...MESSAGE_CHOICES,
  target: ['device', 'app'],
  transport: ['http', 'channel'],
} as const;

export const DEFAULTS = {
  ...MANY,
  ...WHEN,
  ...MESSAGE,
  target: firstOf(CHOICES.target),
  transport: firstOf(CHOICES.transport),
};
export type PushConfig = typeof DEFAULTS;
