import { DEVICE, type Datatype, type DeviceConfig } from '../common/shared.config';

/** An empty `chipid` means all devices. */
export interface LatestConfig extends DeviceConfig {
  datatype: Datatype;
  /** How a message is handled if nothing is known of its device. */
  missing: 'error' | 'null' | 'history';
}

export const DEFAULTS: LatestConfig = { ...DEVICE, datatype: 'auto-detect', missing: 'error' };
