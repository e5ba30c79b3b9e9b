import type { NodeAPI } from 'node-red';
import { parseChipid } from '../../src/input/chipid';
import type { PushMessage } from '../../src/types';
import { parseFormat } from '../../src/input/push-payload';
import { registerAction } from '../common/action';
import { CHIPID_INPUT } from '../common/inputs';
import { timeoutOf } from '../common/number';
import { PUSH_TYPE, type PushConfig } from './push.config';

const MESSAGE_INPUT = { message: ['payload', 'msg'] } as const;

/** Pushes to one device, or to all online devices of the application (endpoints 3 and 4, section 6). */
export = function (RED: NodeAPI): void {
  registerAction<PushConfig, 'chipid' | 'message'>(RED, PUSH_TYPE, {
    api: 'open',
    inputs: ({ target }) =>
      target === 'app' ? MESSAGE_INPUT : { ...CHIPID_INPUT, ...MESSAGE_INPUT },
    async perform({ client, config, inputs, msg, signal }) {
      const format = config.format === 'msg' ? parseFormat(msg['format']) : config.format;
      const options = { format, timeout: timeoutOf(config), signal };
      // Judged by the client, together with the format.
      const message = inputs.message as PushMessage;
      if (config.target === 'app') {
        const { statusCode, body } = await client.pushToApp(message, options);
        return { set: { payload: body, statusCode } };
      }
      const chipid = parseChipid(inputs.chipid);
      if (config.transport === 'channel') {
        await client.pushOverChannel(chipid, message, options);
        return { set: { payload: { msg: 'sent' }, chipid } };
      }
      const { statusCode, body } = await client.push(chipid, message, options);
      return { set: { payload: body, chipid, statusCode } };
    },
  });
};
