import { parseKey, parseValueDatatype } from '../../src/input';
import { actionRuntime } from '../common/action-runtime';
import { callDevice } from '../common/device-call';
import { CHIPID_INPUT } from '../common/inputs';
import type { RtStatusConfig } from './rt-status.config';

/** Reads the value of a callback that the device's firmware has registered (endpoint 8). */
export const runtime = actionRuntime<RtStatusConfig, 'chipid' | 'key'>({
  api: 'open',
  inputs: () => ({ ...CHIPID_INPUT, key: ['key', 'msg'] }),
  async perform(call) {
    const key = call.inputs.key as string;
    // Checked before a command waits for those before it.
    if (call.config.many === true) parseKey(key);
    const datatype = parseValueDatatype(call.config.datatype);
    return callDevice(call, (chipid, options) =>
      call.client.rtStatus(chipid, key, { ...options, datatype }),
    );
  },
});
