import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-refresh',
  () => require('./refresh.runtime') as typeof import('./refresh.runtime'),
);
