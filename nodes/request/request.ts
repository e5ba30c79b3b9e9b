import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { REQUEST_TYPE } from './request.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    REQUEST_TYPE,
    () => require('./request.runtime') as typeof import('./request.runtime'),
  );
};
