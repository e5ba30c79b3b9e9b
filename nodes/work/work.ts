import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { WORK_TYPE } from './work.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof WORK_TYPE = 'device-cloud-work';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./work.runtime') as typeof import('./work.runtime'));
};
