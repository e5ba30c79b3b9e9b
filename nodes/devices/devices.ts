import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-devices',
    () => require('./devices.runtime') as typeof import('./devices.runtime'),
  );
};
