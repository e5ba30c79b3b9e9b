import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { HISTORY_TYPE } from './history.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof HISTORY_TYPE = 'device-cloud-history';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./history.runtime') as typeof import('./history.runtime'));
};
