import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { REQUEST_TYPE } from './request.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof REQUEST_TYPE = 'device-cloud-request';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./request.runtime') as typeof import('./request.runtime'));
};
