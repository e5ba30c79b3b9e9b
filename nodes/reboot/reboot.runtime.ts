import { defineAction } from '../common/action';
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
  perform: (call) => performPlan(call, { call: 'reboot', device: call.inputs.chipid, args: [] }),
});
