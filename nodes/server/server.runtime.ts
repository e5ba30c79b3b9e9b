import type { Answer, JsonObject, Query } from '../../src/index';
import type { ActionCall } from '../common/action';
import { actionRuntime } from '../common/action-runtime';
import { operationOf, pagination, serverInputs, type ServerInput } from './operations';
import type { ServerConfig } from './server.config';

type Operation = (call: ActionCall<ServerConfig, ServerInput>) => Promise<Answer<unknown>>;

// The client checks all three, whatever the types say.
const deviceidOf = ({ deviceid }: { readonly deviceid?: unknown }): string => deviceid as string;
const bodyOf = ({ body }: { readonly body?: unknown }): JsonObject => body as JsonObject;
const queryOf = ({ query }: { readonly query?: unknown }): Query => query as Query;

const OPERATIONS: Readonly<Record<ServerConfig['operation'], Operation>> = {
  devices: ({ client, inputs, signal }) =>
    client.serverDevices(pagination(inputs.page, inputs.count), { signal }),
  device: ({ client, inputs, signal }) => client.serverDevice(deviceidOf(inputs), { signal }),
  update: ({ client, inputs, signal }) =>
    client.serverUpdate(deviceidOf(inputs), bodyOf(inputs), { signal }),
  passthrough: ({ client, inputs, signal }) =>
    client.serverPassthrough(deviceidOf(inputs), bodyOf(inputs), { signal }),
  uploads: ({ client, inputs, signal }) => client.serverUploads(queryOf(inputs), { signal }),
};

/** The header-signed server API (interface A). */
export const runtime = actionRuntime<ServerConfig, ServerInput>({
  api: 'server',
  inputs: serverInputs,
  async perform(call) {
    const { statusCode, body } = await OPERATIONS[operationOf(call.config)](call);
    return { set: { payload: body, statusCode } };
  },
});
