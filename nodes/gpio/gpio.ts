import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-gpio',
    () => require('./gpio.runtime') as typeof import('./gpio.runtime'),
  );
};
