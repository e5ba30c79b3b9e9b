import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-devices',
  () => require('./devices.runtime') as typeof import('./devices.runtime'),
);
