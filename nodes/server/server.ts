import type { NodeAPI } from 'node-red';
import type { Answer, Query } from '../../src/types';
import { invalidInput } from '../../src/errors';
import { parseBody, parseDeviceid, parseQuery } from '../../src/api/server-api';
import { registerAction, type ActionCall } from '../common/action';
import type { InputTable } from '../common/inputs';
import { SERVER_TYPE, type ServerConfig } from './server.config';

type ServerInput = 'deviceid' | 'page' | 'count' | 'body' | 'query';
type Operation = (call: ActionCall<ServerConfig, ServerInput>) => Promise<Answer<unknown>>;

/** Pagination is optional and its form is not shown (section 4.1): what is given is passed through. */
function pagination(page: unknown, count: unknown): Query {
  const query: Record<string, unknown> = {};
  if (page !== undefined && page !== null && page !== '') query['page'] = page;
  if (count !== undefined && count !== null && count !== '') query['count'] = count;
  return parseQuery(query);
}

/** Here pagination is required, and the names of its parameters are not shown (section 4.1). */
function requiredQuery(value: unknown): Query {
  const query = parseQuery(value);
  if (Object.keys(query).length > 0) return query;
  throw invalidInput(
    'The query is empty, but the service requires pagination parameters to read uploaded data. ' +
      "Its document does not name them: take the names from your service's operator.",
  );
}

const OPERATIONS: Readonly<Record<ServerConfig['operation'], Operation>> = {
  devices: ({ client, inputs, signal }) =>
    client.serverDevices(pagination(inputs.page, inputs.count), { signal }),
  device: ({ client, inputs, signal }) =>
    client.serverDevice(parseDeviceid(inputs.deviceid), { signal }),
  update: ({ client, inputs, signal }) =>
    client.serverUpdate(parseDeviceid(inputs.deviceid), parseBody(inputs.body), { signal }),
  passthrough: ({ client, inputs, signal }) =>
    client.serverPassthrough(parseDeviceid(inputs.deviceid), parseBody(inputs.body), { signal }),
  uploads: ({ client, inputs, signal }) =>
    client.serverUploads(requiredQuery(inputs.query), { signal }),
};

/** What each operation reads for a message. */
const INPUTS: Readonly<Record<ServerConfig['operation'], InputTable<ServerInput>>> = {
  devices: { page: ['', 'num'], count: ['', 'num'] },
  device: { deviceid: ['deviceid', 'msg'] },
  update: { deviceid: ['deviceid', 'msg'], body: ['payload', 'msg'] },
  passthrough: { deviceid: ['deviceid', 'msg'], body: ['payload', 'msg'] },
  uploads: { query: ['{}', 'json'] },
};

const operationOf = (config: ServerConfig): ServerConfig['operation'] =>
  Object.hasOwn(OPERATIONS, config.operation) ? config.operation : 'devices';

/** The header-signed server API (interface A). */
export = function (RED: NodeAPI): void {
  registerAction<ServerConfig, ServerInput>(RED, SERVER_TYPE, {
    api: 'server',
    inputs: (config) => INPUTS[operationOf(config)],
    async perform(call) {
      const { statusCode, body } = await OPERATIONS[operationOf(call.config)](call);
      return { set: { payload: body, statusCode } };
    },
  });
};
