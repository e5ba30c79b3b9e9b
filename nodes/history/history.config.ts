import { DATATYPES, DEVICE, firstOf, TYPED, type ValueType } from '../common/shared.config';

export const CHOICES = {
  operation: ['uploads', 'pushes', 'sync'],
  datatype: ['raw', ...DATATYPES],
} as const;

export const DEFAULTS = {
  ...DEVICE,
  ...TYPED,
  operation: firstOf(CHOICES.operation),
  begin: 'begin',
  beginType: 'msg' as ValueType,
  end: 'end',
  endType: 'msg' as ValueType,
  datatype: firstOf(CHOICES.datatype),
  /** One message per record, with `msg.parts`. */
  split: false,
  /** Only records not emitted before. */
  incremental: false,
};
export type HistoryConfig = typeof DEFAULTS;
