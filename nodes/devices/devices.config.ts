export const DEVICES_TYPE = 'device-cloud-devices';

export interface DevicesConfig {
  app: string;
  operation: 'list' | 'app';
}
