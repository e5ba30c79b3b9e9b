import type { DeviceCallConfig } from '../common/action.config';

export const REFRESH_TYPE = 'device-cloud-refresh';

export type RefreshConfig = DeviceCallConfig;
