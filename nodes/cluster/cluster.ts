import type { NodeAPI } from 'node-red';
import { addRoutes } from '../common/admin/admin-routes';
import { registerNode } from '../common/register-node';
import type { CLUSTER_TYPE } from './cluster.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof CLUSTER_TYPE = 'device-cloud-cluster';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    TYPE,
    () => require('./cluster.runtime') as typeof import('./cluster.runtime'),
    { credentials: { user: { type: 'text' }, password: { type: 'password' } } },
  );
  addRoutes(
    RED,
    { test: ['post', '/device-cloud/clusters/test', 'device-cloud.write'] },
    () => require('./cluster-route') as typeof import('./cluster-route'),
  );
};
