import type { DeviceConfig } from '../common/action.config';

export const REBOOT_TYPE = 'device-cloud-reboot';

export type RebootConfig = DeviceConfig;
