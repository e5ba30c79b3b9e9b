import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-server',
    () => require('./server.runtime') as typeof import('./server.runtime'),
  );
};
