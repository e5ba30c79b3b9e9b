import { defineAction } from '../common/action';
import { addWait, performPlan, timeoutOf } from '../common/device-call';
import { DEFAULTS } from './reboot.config';

/** Resets devices (endpoint 12). */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  inputs: () => ['chipid'],
  waits: () => true,
  perform(call) {
    const { config, inputs } = call;
    const options = addWait(timeoutOf(config), config);
    return performPlan(call, { call: 'reboot', device: inputs.chipid, args: [], options });
  },
});
