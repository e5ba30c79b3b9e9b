import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    'device-cloud-type',
    () => require('./type.runtime') as typeof import('./type.runtime'),
  );
};
