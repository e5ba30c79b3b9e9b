import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { LATEST_TYPE } from './latest.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof LATEST_TYPE = 'device-cloud-latest';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./latest.runtime') as typeof import('./latest.runtime'));
};
