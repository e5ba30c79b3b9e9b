import type { ValueType } from '../common/shared.config';

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

export const DEFAULTS: ServerConfig = {
  app: '',
  operation: 'devices',
  deviceid: 'deviceid',
  deviceidType: 'msg',
  page: '',
  pageType: 'num',
  count: '',
  countType: 'num',
  body: 'payload',
  bodyType: 'msg',
  query: '{}',
  queryType: 'json',
};

/** The inputs of each operation. */
export const INPUTS = {
  devices: ['page', 'count'],
  device: ['deviceid'],
  update: ['deviceid', 'body'],
  passthrough: ['deviceid', 'body'],
  uploads: ['query'],
} as const;
export type ServerInput = (typeof INPUTS)[ServerConfig['operation']][number];
