import { firstOf, type ValueType } from '../common/shared.config';

export const CHOICES = {
  operation: ['devices', 'device', 'update', 'passthrough', 'uploads'],
} as const;

export const DEFAULTS = {
  app: '',
  operation: firstOf(CHOICES.operation),
  deviceid: 'deviceid',
  deviceidType: 'msg' as ValueType,
  page: '',
  pageType: 'num' as ValueType,
  count: '',
  countType: 'num' as ValueType,
  /** JSON body of `update` and `passthrough`. */
  body: 'payload',
  bodyType: 'msg' as ValueType,
  /** JSON object of query parameters of `uploads`. */
  query: '{}',
  queryType: 'json' as ValueType,
};
export type ServerConfig = typeof DEFAULTS;

/** The inputs of each operation. */
export const INPUTS = {
  devices: ['page', 'count'],
  device: ['deviceid'],
  update: ['deviceid', 'body'],
  passthrough: ['deviceid', 'body'],
  uploads: ['query'],
} as const;
export type ServerInput = (typeof INPUTS)[ServerConfig['operation']][number];
