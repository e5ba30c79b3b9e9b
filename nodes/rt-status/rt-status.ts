import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-rt-status',
  () => require('./rt-status.runtime') as typeof import('./rt-status.runtime'),
);
