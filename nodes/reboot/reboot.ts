import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { REBOOT_TYPE } from './reboot.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof REBOOT_TYPE = 'device-cloud-reboot';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./reboot.runtime') as typeof import('./reboot.runtime'));
};
