import type { Datatype, DeviceConfig } from '../common/action.config';

export const LATEST_TYPE = 'device-cloud-latest';

/** An empty `chipid` means all devices. */
export interface LatestConfig extends DeviceConfig {
  datatype: Datatype;
  /** How a message is handled if nothing is known of its device. */
  missing: 'error' | 'null' | 'history';
}
