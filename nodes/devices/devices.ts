import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { DEVICES_TYPE } from './devices.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof DEVICES_TYPE = 'device-cloud-devices';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./devices.runtime') as typeof import('./devices.runtime'));
};
