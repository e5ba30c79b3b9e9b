import { DEVICE, TYPED, type Datatype } from '../common/shared.config';

/** An empty `chipid` means all devices. */
export const DEFAULTS = {
  ...DEVICE,
  ...TYPED,
  datatype: 'auto-detect' as Datatype,
  /** How a message is handled if nothing is known of its device. */
  missing: 'error' as 'error' | 'null',
};
export type LatestConfig = typeof DEFAULTS;
