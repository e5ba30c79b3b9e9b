export const DEFAULTS = { app: '', operation: 'list' as 'list' | 'app' };
export type DevicesConfig = typeof DEFAULTS;
