import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    'device-cloud-listen',
    () => require('./listen.runtime') as typeof import('./listen.runtime'),
  );
};
