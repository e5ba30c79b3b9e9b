import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-reboot',
    () => require('./reboot.runtime') as typeof import('./reboot.runtime'),
  );
};
