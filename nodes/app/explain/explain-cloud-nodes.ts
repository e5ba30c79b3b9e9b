import type { Chipid, Day, JsonObject, Query } from '../../../src/index';
import { invalidInput } from '../../../src/input';
import { CHIPID_INPUT } from '../../common/inputs';
import { operationOf, pagination, serverInputs } from '../../server/operations';
import type { ServerConfig } from '../../server/server.config';
import { latestNote } from './explain-notes';
import type { Explained, ExplainedNode } from './explained-node';

/** Endpoints 1 and 2. */
export const devices: ExplainedNode = {
  api: 'open',
  inputs: () => ({}),
  explain: ({ client, config }) =>
    client.explain(config['operation'] === 'app' ? 'app' : 'devices'),
};

/** Endpoints 5 to 7. */
export const history: ExplainedNode = {
  api: 'open',
  inputs: ({ operation }) =>
    operation === 'sync' ? { begin: ['begin', 'msg'], end: ['end', 'msg'] } : CHIPID_INPUT,
  explain({ client, config: { operation }, inputs }) {
    if (operation === 'sync')
      return client.explain('sync', inputs['begin'] as Day, inputs['end'] as Day);
    return client.explain(
      operation === 'pushes' ? 'pushes' : 'uploads',
      inputs['chipid'] as Chipid,
    );
  },
};

/** Endpoint 5, and only if nothing is known of the device. */
export const latest: ExplainedNode = {
  api: 'open',
  inputs: ({ chipid }) => (chipid === '' ? {} : CHIPID_INPUT),
  explain({ client, config: { chipid, missing }, inputs, note }) {
    if (chipid === '' || missing !== 'history') {
      throw invalidInput('The node sends nothing: it returns what listeners have received.');
    }
    note(latestNote());
    return client.explain('uploads', inputs['chipid'] as Chipid);
  },
};

/** Interface A. The properties are not checked before the run time either. */
const serverConfig = (config: Explained['config']): ServerConfig =>
  config as unknown as ServerConfig;

export const server: ExplainedNode = {
  api: 'server',
  inputs: (config) => serverInputs(serverConfig(config)),
  explain({ client, config, inputs }) {
    const id = inputs['deviceid'] as string;
    const body = inputs['body'] as JsonObject;
    switch (operationOf(serverConfig(config))) {
      case 'devices':
        return client.explain('serverDevices', pagination(inputs['page'], inputs['count']));
      case 'device':
        return client.explain('serverDevice', id);
      case 'update':
        return client.explain('serverUpdate', id, body);
      case 'passthrough':
        return client.explain('serverPassthrough', id, body);
      case 'uploads':
        return client.explain('serverUploads', inputs['query'] as Query);
    }
  },
};
