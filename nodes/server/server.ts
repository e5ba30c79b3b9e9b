import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { SERVER_TYPE } from './server.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    SERVER_TYPE,
    () => require('./server.runtime') as typeof import('./server.runtime'),
  );
};
