import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-push',
    () => require('./push.runtime') as typeof import('./push.runtime'),
  );
};
