import type { NodeAPI } from 'node-red';
import { addRoutes } from '../common/admin/admin-routes';
import { registerNode } from '../common/register-node';
import { CLUSTER_TYPE } from './cluster.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    CLUSTER_TYPE,
    () => require('./cluster.runtime') as typeof import('./cluster.runtime'),
    { credentials: { user: { type: 'text' }, password: { type: 'password' } } },
  );
  addRoutes(
    RED,
    { test: ['post', '/device-cloud/clusters/test', 'device-cloud.write'] },
    () => require('./cluster-route') as typeof import('./cluster-route'),
  );
};
