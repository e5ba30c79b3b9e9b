import type { Datatype, DeviceCallConfig, ValueType } from '../common/action.config';

export const REQUEST_TYPE = 'device-cloud-request';

/** Seconds from sending the push until the reply. */
export const REPLY_TIMEOUT = 30;

/** `timeout` holds for the channel, and then for the push. */
export interface RequestConfig extends DeviceCallConfig {
  /** `msg`: the format is in `msg.format`. */
  format: 'MSG' | 'HEX' | 'AT' | 'LUA' | 'B64' | 'msg';
  message: string;
  messageType: ValueType;
  /** Which upload is the reply. */
  match: 'property' | 'pattern' | 'jsonata' | 'next';
  /** A path in the decoded upload. */
  property: string;
  equals: string;
  equalsType: ValueType;
  /** A regular expression over the upload's text. */
  pattern: string;
  /** JSONata over `{upload, request}`. */
  expression: string;
  /** Seconds, default {@link REPLY_TIMEOUT}. */
  replyTimeout: number | string;
  datatype: Datatype;
}
