import {
  DATATYPES,
  MANY,
  firstOf,
  MESSAGE,
  MESSAGE_CHOICES,
  TYPED,
  type ValueType,
} from '../common/shared.config';

export const CHOICES = {
  ...MESSAGE_CHOICES,
  match: ['property', 'pattern', 'next'],
  datatype: DATATYPES,
} as const;

/** `timeout` holds for the channel, and then for the push. */
export const DEFAULTS = {
  ...MANY,
  ...MESSAGE,
  ...TYPED,
  /** Which upload is the reply. */
  match: firstOf(CHOICES.match),
  /** A path in the decoded upload. */
  property: '',
  equals: '',
  equalsType: 'str' as ValueType,
  /** A regular expression over the upload's text. */
  pattern: '',
  /** Seconds from sending the push until the reply. */
  replyTimeout: 30 as number | string,
  datatype: firstOf(CHOICES.datatype),
};
export type RequestConfig = typeof DEFAULTS;
