import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-server',
  () => require('./server.runtime') as typeof import('./server.runtime'),
);
