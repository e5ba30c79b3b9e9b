import type { DeviceCallConfig } from '../common/action.config';

export const REBOOT_TYPE = 'device-cloud-reboot';

export type RebootConfig = DeviceCallConfig;
