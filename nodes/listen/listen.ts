import { plainNode } from '../common/register';

export = plainNode(
  'device-cloud-listen',
  () => require('./listen.runtime') as typeof import('./listen.runtime'),
);
