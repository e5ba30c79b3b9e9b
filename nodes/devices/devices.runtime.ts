import { defineAction } from '../common/action';
import { performPlan } from '../common/device-call';
import { CHOICES, DEFAULTS } from './devices.config';

/** Lists the online devices, or reads the application's record (endpoints 2 and 1). */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs: () => [],
  perform: (call) =>
    performPlan(call, { call: call.config.operation === 'app' ? 'app' : 'devices', args: [] }),
});
