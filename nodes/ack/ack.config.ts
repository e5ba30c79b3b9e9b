export interface AckConfig {
  app: string;
}

export const DEFAULTS: AckConfig = { app: '' };
