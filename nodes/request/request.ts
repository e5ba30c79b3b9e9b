import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-request',
  () => require('./request.runtime') as typeof import('./request.runtime'),
);
