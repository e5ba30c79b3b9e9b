import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { LISTEN_TYPE } from './listen.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof LISTEN_TYPE = 'device-cloud-listen';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./listen.runtime') as typeof import('./listen.runtime'));
};
