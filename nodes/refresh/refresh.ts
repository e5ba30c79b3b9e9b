import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { REFRESH_TYPE } from './refresh.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof REFRESH_TYPE = 'device-cloud-refresh';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./refresh.runtime') as typeof import('./refresh.runtime'));
};
