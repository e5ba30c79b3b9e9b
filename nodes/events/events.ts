import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { EVENTS_TYPE } from './events.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    EVENTS_TYPE,
    () => require('./events.runtime') as typeof import('./events.runtime'),
  );
};
