import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { ACK_TYPE } from './ack.config';

export = function (RED: NodeAPI): void {
  registerNode(RED, ACK_TYPE, () => require('./ack.runtime') as typeof import('./ack.runtime'));
};
