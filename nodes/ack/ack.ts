import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/register';

export = function (RED: NodeAPI): void {
  registerAction(
    RED,
    'device-cloud-ack',
    () => require('./ack.runtime') as typeof import('./ack.runtime'),
  );
};
