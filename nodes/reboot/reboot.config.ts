import type { ManyConfig, WhenConfig } from '../common/action.config';

export const REBOOT_TYPE = 'device-cloud-reboot';

export interface RebootConfig extends ManyConfig, WhenConfig {}
