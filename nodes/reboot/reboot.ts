import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { REBOOT_TYPE } from './reboot.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    REBOOT_TYPE,
    () => require('./reboot.runtime') as typeof import('./reboot.runtime'),
  );
};
