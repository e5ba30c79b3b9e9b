import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    'device-cloud-events',
    () => require('./events.runtime') as typeof import('./events.runtime'),
  );
};
