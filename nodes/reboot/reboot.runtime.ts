import { actionRuntime } from '../common/action';
import { answerFields, callDevice, waitOf } from '../common/device-call';
import { CHIPID_INPUT } from '../common/inputs';
import type { RebootConfig } from './reboot.config';

/** Resets devices (endpoint 12). */
export const runtime = actionRuntime<RebootConfig, 'chipid'>({
  api: 'open',
  inputs: () => CHIPID_INPUT,
  perform: (call) =>
    callDevice(
      call,
      async (chipid, options) => answerFields(await call.client.reboot(chipid, options)),
      waitOf(call.config),
    ),
});
