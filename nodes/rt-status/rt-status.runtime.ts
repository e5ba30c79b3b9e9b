import { parseKey } from '../../src/index';
import { defineAction } from '../common/action';
import { performPlan } from '../common/device-call';
import { checkGiven } from '../common/inputs';
import { CHOICES, DEFAULTS } from './rt-status.config';

/** Reads the value of a callback that the device's firmware has registered (endpoint 8). */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs: () => ['chipid', 'key'],
  perform(call) {
    const { config, inputs } = call;
    const { chipid: device, key } = inputs;
    checkGiven(config, 'key', key, 'set it to the key of a callback, or enter one in the node');
    // Checked before a command waits for those before it.
    if (config.many) parseKey(key);
    const options = { datatype: config.datatype };
    return performPlan(call, { call: 'rtStatus', device, args: [key], options });
  },
});
