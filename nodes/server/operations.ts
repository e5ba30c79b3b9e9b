import type { Query } from '../../src/index';
import type { InputTable } from '../common/inputs';
import type { ServerConfig } from './server.config';

export type ServerInput = 'deviceid' | 'page' | 'count' | 'body' | 'query';
type Operation = ServerConfig['operation'];

/** What each operation reads for a message. */
const INPUTS: Readonly<Record<Operation, InputTable<ServerInput>>> = {
  devices: { page: ['', 'num'], count: ['', 'num'] },
  device: { deviceid: ['deviceid', 'msg'] },
  update: { deviceid: ['deviceid', 'msg'], body: ['payload', 'msg'] },
  passthrough: { deviceid: ['deviceid', 'msg'], body: ['payload', 'msg'] },
  uploads: { query: ['{}', 'json'] },
};

export const operationOf = ({ operation }: ServerConfig): Operation =>
  Object.hasOwn(INPUTS, operation) ? operation : 'devices';

export const serverInputs = (config: ServerConfig): InputTable<ServerInput> =>
  INPUTS[operationOf(config)];

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Pagination is optional and its form is not shown (section 4.1): given parameters are passed through. */
export function pagination(page: unknown, count: unknown): Query {
  const given = Object.entries({ page, count }).filter(([, value]) => !isEmpty(value));
  return Object.fromEntries(given) as Query;
}
