import {
  DEVICE,
  TYPED,
  type Datatype,
  type DeviceConfig,
  type TypedConfig,
  type ValueType,
} from '../common/shared.config';

export interface HistoryConfig extends DeviceConfig, TypedConfig {
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

export const DEFAULTS: HistoryConfig = {
  ...DEVICE,
  ...TYPED,
  operation: 'uploads',
  begin: 'begin',
  beginType: 'msg',
  end: 'end',
  endType: 'msg',
  datatype: 'raw',
  split: false,
  incremental: false,
};
