import type { NodeAPI } from 'node-red';
import { registerNode } from '../common/register-node';
import type { GPIO_TYPE } from './gpio.config';

/** A literal, so that the start of Node-RED loads nothing for it. */
const TYPE: typeof GPIO_TYPE = 'device-cloud-gpio';

export = function (RED: NodeAPI): void {
  registerNode(RED, TYPE, () => require('./gpio.runtime') as typeof import('./gpio.runtime'));
};
