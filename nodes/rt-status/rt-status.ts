import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-rt-status',
    () => require('./rt-status.runtime') as typeof import('./rt-status.runtime'),
  );
};
