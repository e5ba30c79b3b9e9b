import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { RT_STATUS_TYPE } from './rt-status.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    RT_STATUS_TYPE,
    () => require('./rt-status.runtime') as typeof import('./rt-status.runtime'),
  );
};
