import type { NodeAPI } from 'node-red';
import { parseChipid } from '../../src/input/chipid';
import { registerAction } from '../common/action';
import { CHIPID_INPUT } from '../common/inputs';
import { timeoutOf } from '../common/number';
import { REFRESH_TYPE, type RefreshConfig } from './refresh.config';

/** Has the service probe a device; it may take 10 seconds (endpoint 11). */
export = function (RED: NodeAPI): void {
  registerAction<RefreshConfig, 'chipid'>(RED, REFRESH_TYPE, {
    api: 'open',
    inputs: () => CHIPID_INPUT,
    async perform({ client, config, inputs, signal }) {
      const chipid = parseChipid(inputs.chipid);
      const options = { timeout: timeoutOf(config), signal };
      const { statusCode, body } = await client.refresh(chipid, options);
      return { set: { payload: body, online: body.status === 'online', chipid, statusCode } };
    },
  });
};
