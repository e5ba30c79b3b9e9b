import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { EVENTS_TYPE } from './events.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof EVENTS_TYPE = 'device-cloud-events';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./events.runtime') as typeof import('./events.runtime'));
};
