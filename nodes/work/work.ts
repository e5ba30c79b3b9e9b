import { plainNode } from '../common/register';

export = plainNode(
  'device-cloud-work',
  () => require('./work.runtime') as typeof import('./work.runtime'),
);
