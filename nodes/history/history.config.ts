import type { Datatype, DeviceConfig, ValueType } from '../common/action.config';

export const HISTORY_TYPE = 'device-cloud-history';

export interface HistoryConfig extends DeviceConfig {
  operation: 'uploads' | 'pushes' | 'sync';
  begin: string;
  beginType: ValueType;
  end: string;
  endType: ValueType;
  datatype: Datatype | 'raw';
  /** One message per record, with `msg.parts`. */
  split: boolean;
  /** Only records not emitted before. */
  incremental: boolean;
}
