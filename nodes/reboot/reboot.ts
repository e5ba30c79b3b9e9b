import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-reboot',
  () => require('./reboot.runtime') as typeof import('./reboot.runtime'),
);
