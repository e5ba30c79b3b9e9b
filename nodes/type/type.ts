import type { NodeAPI } from 'node-red';
import { addRoutes, registerNode } from '../common/register';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    'device-cloud-type',
    () => require('./type.runtime') as typeof import('./type.runtime'),
  );
  addRoutes(
    RED,
    { try: ['post', '/device-cloud/types/try', 'device-cloud.write'] },
    () => require('./try-route') as typeof import('./try-route'),
  );
};
