import type { ValueType } from '../common/action.config';

export const SERVER_TYPE = 'device-cloud-server';

export interface ServerConfig {
  app: string;
  operation: 'devices' | 'device' | 'update' | 'passthrough' | 'uploads';
  deviceid: string;
  deviceidType: ValueType;
  page: string;
  pageType: ValueType;
  count: string;
  countType: ValueType;
  /** JSON body of `update` and `passthrough`. */
  body: string;
  bodyType: ValueType;
  /** JSON object of query parameters of `uploads`. */
  query: string;
  queryType: ValueType;
}
