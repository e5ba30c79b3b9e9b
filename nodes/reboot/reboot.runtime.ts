import { defineAction } from '../common/action';
import { addWait, timeoutOf } from '../common/inputs';
import { performPlan } from '../common/device-call';
import { WHEN_CHOICES } from '../common/shared.config';
import { DEFAULTS } from './reboot.config';

/** Resets devices (endpoint 12). */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  choices: WHEN_CHOICES,
  inputs: () => ['chipid'],
  waits: () => true,
  perform(call) {
    const { config, inputs } = call;
    const options = addWait(timeoutOf(config), config);
    return performPlan(call, { call: 'reboot', device: inputs.chipid, args: [], options });
  },
});
