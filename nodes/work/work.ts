import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    'device-cloud-work',
    () => require('./work.runtime') as typeof import('./work.runtime'),
  );
};
