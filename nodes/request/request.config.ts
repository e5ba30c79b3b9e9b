import {
  DEVICE_CALL,
  MESSAGE,
  TYPED,
  type Datatype,
  type ValueType,
} from '../common/shared.config';

/** `timeout` holds for the channel, and then for the push. */
export const DEFAULTS = {
  ...DEVICE_CALL,
  ...MESSAGE,
  ...TYPED,
  /** Which upload is the reply. */
  match: 'property' as 'property' | 'pattern' | 'next',
  /** A path in the decoded upload. */
  property: '',
  equals: '',
  equalsType: 'str' as ValueType,
  /** A regular expression over the upload's text. */
  pattern: '',
  /** Seconds from sending the push until the reply. */
  replyTimeout: 30 as number | string,
  datatype: 'auto-detect' as Datatype,
};
export type RequestConfig = typeof DEFAULTS;
