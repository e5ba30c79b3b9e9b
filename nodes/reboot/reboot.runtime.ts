import { defineAction } from '../common/action';
import { timeoutOf, waitOf } from '../common/device-call';
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
    options: { ...timeoutOf(config), ...waitOf(config) },
  }),
});
