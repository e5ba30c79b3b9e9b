import type { NodeAPI } from 'node-red';
import { addRoutes, registerNode } from '../common/register';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    'device-cloud-cluster',
    () => require('./cluster.runtime') as typeof import('./cluster.runtime'),
    { credentials: { user: { type: 'text' }, password: { type: 'password' } } },
  );
  addRoutes(
    RED,
    { test: ['post', '/device-cloud/clusters/test', 'device-cloud.write'] },
    () => require('./cluster-route') as typeof import('./cluster-route'),
  );
};
