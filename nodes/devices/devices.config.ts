export interface DevicesConfig {
  app: string;
  operation: 'list' | 'app';
}

export const DEFAULTS: DevicesConfig = { app: '', operation: 'list' };
