import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { WORK_TYPE } from './work.config';

export = function (RED: NodeAPI): void {
  registerNode(RED, WORK_TYPE, () => require('./work.runtime') as typeof import('./work.runtime'));
};
