export const ACK_TYPE = 'device-cloud-ack';

export interface AckConfig {
  app: string;
}
