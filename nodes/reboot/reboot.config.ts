import { MANY, WHEN, type ManyConfig, type WhenConfig } from '../common/shared.config';

export interface RebootConfig extends ManyConfig, WhenConfig {}

export const DEFAULTS: RebootConfig = { ...MANY, ...WHEN };
