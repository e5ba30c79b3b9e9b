import { firstOf } from '../common/shared.config';

export const CHOICES = { operation: ['list', 'app'] } as const;
export const DEFAULTS = { app: '', operation: firstOf(CHOICES.operation) };
export type DevicesConfig = typeof DEFAULTS;
