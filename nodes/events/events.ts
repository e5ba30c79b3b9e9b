import { plainNode } from '../common/register';

export = plainNode(
  'device-cloud-events',
  () => require('./events.runtime') as typeof import('./events.runtime'),
);
