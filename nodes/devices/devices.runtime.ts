import { defineAction } from '../common/action';
import { DEFAULTS } from './devices.config';

/** Lists the online devices, or reads the application's record (endpoints 2 and 1). */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  inputs: () => [],
  plan: ({ config }) => ({ call: config.operation === 'app' ? 'app' : 'devices', args: [] }),
});
