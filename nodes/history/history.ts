import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-history',
  () => require('./history.runtime') as typeof import('./history.runtime'),
);
