import type { NodeAPI } from 'node-red';
import { addRoutes } from '../common/admin-routes';
import { registerNode } from '../common/register-node';
import { APP_TYPE } from './app.config';

export = function (RED: NodeAPI): void {
  registerNode(RED, APP_TYPE, () => require('./app.runtime') as typeof import('./app.runtime'), {
    credentials: {
      appkey: { type: 'password' },
      serverKey: { type: 'text' },
      serverPassword: { type: 'password' },
    },
  });
  const apps = '/device-cloud/apps';
  addRoutes(
    RED,
    {
      devices: ['get', `${apps}/:id/devices`, 'device-cloud.read'],
      test: ['post', `${apps}/test`, 'device-cloud.write'],
      explain: ['post', `${apps}/explain`, 'device-cloud.write'],
      apps: ['get', apps, 'device-cloud.read'],
      fleet: ['get', `${apps}/:id/fleet`, 'device-cloud.read'],
      diagnostics: ['get', '/device-cloud/diagnostics', 'device-cloud.read'],
      refresh: ['post', `${apps}/:id/devices/:chipid/refresh`, 'device-cloud.write'],
      push: ['post', `${apps}/:id/devices/:chipid/push`, 'device-cloud.write'],
    },
    () => require('./admin') as typeof import('./admin'),
  );
};
