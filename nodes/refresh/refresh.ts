import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-refresh',
    () => require('./refresh.runtime') as typeof import('./refresh.runtime'),
  );
};
