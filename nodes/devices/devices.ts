import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { DEVICES_TYPE } from './devices.config';

export = function (RED: NodeAPI): void {
  registerNode(
    RED,
    DEVICES_TYPE,
    () => require('./devices.runtime') as typeof import('./devices.runtime'),
  );
};
