import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-latest',
  () => require('./latest.runtime') as typeof import('./latest.runtime'),
);
