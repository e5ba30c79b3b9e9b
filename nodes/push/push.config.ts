import {
  MANY,
  MESSAGE,
  WHEN,
  type ManyConfig,
  type MessageConfig,
  type WhenConfig,
} from '../common/shared.config';

export interface PushConfig extends ManyConfig, WhenConfig, MessageConfig {
  target: 'device' | 'app';
  transport: 'http' | 'channel';
}

export const DEFAULTS: PushConfig = {
  ...MANY,
  ...WHEN,
  ...MESSAGE,
  target: 'device',
  transport: 'http',
};
