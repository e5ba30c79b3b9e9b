import { actionRuntime } from '../common/action-runtime';
import { callDevice, waitOf } from '../common/device-call';
import { CHIPID_INPUT } from '../common/inputs';
import type { RebootConfig } from './reboot.config';

/** Resets devices (endpoint 12). */
export const runtime = actionRuntime<RebootConfig, 'chipid'>({
  api: 'open',
  inputs: () => CHIPID_INPUT,
  perform: (call) =>
    callDevice(call, (chipid, options) => call.client.reboot(chipid, options), waitOf(call.config)),
});
