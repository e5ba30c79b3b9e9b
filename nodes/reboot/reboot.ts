import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/action';
import { callDevice } from '../common/device-call';
import { CHIPID_INPUT } from '../common/inputs';
import { REBOOT_TYPE, type RebootConfig } from './reboot.config';

/** Resets a device (endpoint 12). */
export = function (RED: NodeAPI): void {
  registerAction<RebootConfig, 'chipid'>(RED, REBOOT_TYPE, {
    api: 'open',
    inputs: () => CHIPID_INPUT,
    perform: (call) => callDevice(call, (chipid, options) => call.client.reboot(chipid, options)),
  });
};
