import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-request',
    () => require('./request.runtime') as typeof import('./request.runtime'),
  );
};
