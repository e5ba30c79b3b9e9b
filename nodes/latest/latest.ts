import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-latest',
    () => require('./latest.runtime') as typeof import('./latest.runtime'),
  );
};
