import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { PUSH_TYPE } from './push.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof PUSH_TYPE = 'device-cloud-push';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./push.runtime') as typeof import('./push.runtime'));
};
