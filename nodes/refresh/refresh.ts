import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { REFRESH_TYPE } from './refresh.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    REFRESH_TYPE,
    () => require('./refresh.runtime') as typeof import('./refresh.runtime'),
  );
};
