import type { NodeAPI } from 'node-red';
import { parseChipid } from '../../src/input/chipid';
import { parseKey } from '../../src/api/open-api';
import { registerAction } from '../common/action';
import { CHIPID_INPUT } from '../common/inputs';
import { timeoutOf } from '../common/number';
import { RT_STATUS_TYPE, type RtStatusConfig } from './rt-status.config';

/** Reads the value of a callback that the device's firmware has registered (endpoint 8). */
export = function (RED: NodeAPI): void {
  registerAction<RtStatusConfig, 'chipid' | 'key'>(RED, RT_STATUS_TYPE, {
    api: 'open',
    inputs: () => ({ ...CHIPID_INPUT, key: ['key', 'msg'] }),
    async perform({ client, config, inputs, signal }) {
      const chipid = parseChipid(inputs.chipid);
      const options = { timeout: timeoutOf(config), signal };
      const { statusCode, body } = await client.rtStatus(chipid, parseKey(inputs.key), options);
      return { set: { payload: body, chipid, statusCode } };
    },
  });
};
