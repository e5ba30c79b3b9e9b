import {
  DEVICE,
  TYPED,
  type Datatype,
  type DeviceConfig,
  type TypedConfig,
} from '../common/shared.config';

/** An empty `chipid` means all devices. */
export interface LatestConfig extends DeviceConfig, TypedConfig {
  datatype: Datatype;
  /** How a message is handled if nothing is known of its device. */
  missing: 'error' | 'null' | 'history';
}

export const DEFAULTS: LatestConfig = {
  ...DEVICE,
  ...TYPED,
  datatype: 'auto-detect',
  missing: 'error',
};
