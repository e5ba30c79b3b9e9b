import type { NodeAPI } from 'node-red';
import { parseChipid } from '../../src/input/chipid';
import { registerAction } from '../common/action';
import { CHIPID_INPUT } from '../common/inputs';
import { timeoutOf } from '../common/number';
import { REBOOT_TYPE, type RebootConfig } from './reboot.config';

/** Resets a device (endpoint 12). */
export = function (RED: NodeAPI): void {
  registerAction<RebootConfig, 'chipid'>(RED, REBOOT_TYPE, {
    api: 'open',
    inputs: () => CHIPID_INPUT,
    async perform({ client, config, inputs, signal }) {
      const chipid = parseChipid(inputs.chipid);
      const options = { timeout: timeoutOf(config), signal };
      const { statusCode, body } = await client.reboot(chipid, options);
      return { set: { payload: body, chipid, statusCode } };
    },
  });
};
