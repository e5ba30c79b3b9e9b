import { defineAction } from '../common/action';
import { addWait, timeoutOf } from '../common/device-call';
import { DEFAULTS } from './reboot.config';

/** Resets devices (endpoint 12). */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  inputs: () => ['chipid'],
  waits: () => true,
  plan: ({ config, inputs }) => ({
    call: 'reboot',
    device: inputs.chipid,
    args: [],
    options: addWait(timeoutOf(config), config),
  }),
});
