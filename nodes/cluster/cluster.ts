import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    'device-cloud-cluster',
    () => require('./cluster.runtime') as typeof import('./cluster.runtime'),
    { credentials: { user: { type: 'text' }, password: { type: 'password' } } },
  );
};
