import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import { GPIO_TYPE } from './gpio.config';

export = function (RED: NodeAPI): void {
  registerNode(RED, GPIO_TYPE, () => require('./gpio.runtime') as typeof import('./gpio.runtime'));
};
