import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { HISTORY_TYPE } from './history.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    HISTORY_TYPE,
    () => require('./history.runtime') as typeof import('./history.runtime'),
  );
};
