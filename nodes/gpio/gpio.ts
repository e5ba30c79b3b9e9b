import { actionNode } from '../common/register';

export = actionNode(
  'device-cloud-gpio',
  () => require('./gpio.runtime') as typeof import('./gpio.runtime'),
);
