import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-history',
    () => require('./history.runtime') as typeof import('./history.runtime'),
  );
};
