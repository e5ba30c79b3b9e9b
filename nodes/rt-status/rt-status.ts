import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { RT_STATUS_TYPE } from './rt-status.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof RT_STATUS_TYPE = 'device-cloud-rt-status';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    TYPE,
    () => require('./rt-status.runtime') as typeof import('./rt-status.runtime'),
  );
};
