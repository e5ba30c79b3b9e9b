import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-ack',
  () => require('./ack.runtime') as typeof import('./ack.runtime'),
);
