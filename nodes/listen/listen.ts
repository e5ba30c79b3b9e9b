import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { LISTEN_TYPE } from './listen.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    LISTEN_TYPE,
    () => require('./listen.runtime') as typeof import('./listen.runtime'),
  );
};
