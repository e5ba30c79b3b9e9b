import {
  DEVICE_CALL,
  MESSAGE,
  TYPED,
  type Datatype,
  type DeviceCallConfig,
  type MessageConfig,
  type TypedConfig,
  type ValueType,
} from '../common/shared.config';

/** `timeout` holds for the channel, and then for the push. */
export interface RequestConfig extends DeviceCallConfig, MessageConfig, TypedConfig {
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
  /** Seconds from sending the push until the reply. */
  replyTimeout: number | string;
  datatype: Datatype;
}

export const DEFAULTS: RequestConfig = {
  ...DEVICE_CALL,
  ...MESSAGE,
  ...TYPED,
  match: 'property',
  property: '',
  equals: '',
  equalsType: 'str',
  pattern: '',
  expression: '',
  replyTimeout: 30,
  datatype: 'auto-detect',
};
