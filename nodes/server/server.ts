import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { SERVER_TYPE } from './server.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof SERVER_TYPE = 'device-cloud-server';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./server.runtime') as typeof import('./server.runtime'));
};
