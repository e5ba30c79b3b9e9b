import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/action';
import { answerFields, callDevice, waitOf } from '../common/device-call';
import { CHIPID_INPUT } from '../common/inputs';
import { REBOOT_TYPE, type RebootConfig } from './reboot.config';

/** Resets devices (endpoint 12). */
export = function (RED: NodeAPI): void {
  registerAction<RebootConfig, 'chipid'>(RED, REBOOT_TYPE, {
    api: 'open',
    inputs: () => CHIPID_INPUT,
    perform: (call) =>
      callDevice(
        call,
        async (chipid, options) => answerFields(await call.client.reboot(chipid, options)),
        waitOf(call.config),
      ),
  });
};
