export const CHOICES = {};
export const DEFAULTS = { app: '' };
export type AckConfig = typeof DEFAULTS;
