import type { ManyConfig, ValueType, WhenConfig } from '../common/action.config';

export const PUSH_TYPE = 'device-cloud-push';

export interface PushConfig extends ManyConfig, WhenConfig {
  target: 'device' | 'app';
  transport: 'http' | 'channel';
  /** `msg`: the format is in `msg.format`. */
  format: 'MSG' | 'HEX' | 'AT' | 'LUA' | 'B64' | 'msg';
  message: string;
  messageType: ValueType;
}
