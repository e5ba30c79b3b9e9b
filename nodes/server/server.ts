import type { NodeAPI } from 'node-red';
import type { Answer, JsonObject, Query } from '../../src/index';
import { invalidInput } from '../../src/input';
import { registerAction, type ActionCall } from '../common/action';
import type { InputTable } from '../common/inputs';
import { isObject } from '../common/values';
import { SERVER_TYPE, type ServerConfig } from './server.config';

type ServerInput = 'deviceid' | 'page' | 'count' | 'body' | 'query';
type Operation = (call: ActionCall<ServerConfig, ServerInput>) => Promise<Answer<unknown>>;

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Pagination is optional and its form is not shown (section 4.1): given parameters are passed through. */
function pagination(page: unknown, count: unknown): Query {
  const given = Object.entries({ page, count }).filter(([, value]) => !isEmpty(value));
  return Object.fromEntries(given) as Query;
}

/** Here pagination is required, and the names of its parameters are not shown (section 4.1). */
function requiredQuery(value: unknown): Query {
  const hasNone = isEmpty(value) || (isObject(value) && Object.keys(value).length === 0);
  if (!hasNone) return value as Query;
  throw invalidInput(
    'The query is empty, but the service requires pagination parameters to read uploaded data. ' +
      "Its document does not name them: take the names from your service's operator.",
  );
}

// The client checks both, whatever the types say.
const deviceidOf = ({ deviceid }: { readonly deviceid?: unknown }): string => deviceid as string;
const bodyOf = ({ body }: { readonly body?: unknown }): JsonObject => body as JsonObject;

const OPERATIONS: Readonly<Record<ServerConfig['operation'], Operation>> = {
  devices: ({ client, inputs, signal }) =>
    client.serverDevices(pagination(inputs.page, inputs.count), { signal }),
  device: ({ client, inputs, signal }) => client.serverDevice(deviceidOf(inputs), { signal }),
  update: ({ client, inputs, signal }) =>
    client.serverUpdate(deviceidOf(inputs), bodyOf(inputs), { signal }),
  passthrough: ({ client, inputs, signal }) =>
    client.serverPassthrough(deviceidOf(inputs), bodyOf(inputs), { signal }),
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
