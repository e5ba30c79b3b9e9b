import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { ACK_TYPE } from './ack.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof ACK_TYPE = 'device-cloud-ack';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./ack.runtime') as typeof import('./ack.runtime'));
};
