import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { PUSH_TYPE } from './push.config';

export = function (RED: NodeAPI): void {
  registerNode(RED, PUSH_TYPE, () => require('./push.runtime') as typeof import('./push.runtime'));
};
