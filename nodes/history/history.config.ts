import { DEVICE, TYPED, type Datatype, type ValueType } from '../common/shared.config';

export const DEFAULTS = {
  ...DEVICE,
  ...TYPED,
  operation: 'uploads' as 'uploads' | 'pushes' | 'sync',
  begin: 'begin',
  beginType: 'msg' as ValueType,
  end: 'end',
  endType: 'msg' as ValueType,
  datatype: 'raw' as Datatype | 'raw',
  /** One message per record, with `msg.parts`. */
  split: false,
  /** Only records not emitted before. */
  incremental: false,
};
export type HistoryConfig = typeof DEFAULTS;
