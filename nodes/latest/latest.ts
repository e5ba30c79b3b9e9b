import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { LATEST_TYPE } from './latest.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    LATEST_TYPE,
    () => require('./latest.runtime') as typeof import('./latest.runtime'),
  );
};
