import { MANY, WHEN } from '../common/shared.config';

export const DEFAULTS = { ...MANY, ...WHEN };
export type RebootConfig = typeof DEFAULTS;
