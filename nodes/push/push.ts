import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-push',
  () => require('./push.runtime') as typeof import('./push.runtime'),
);
