import type { NodeAPI } from 'node-red';
import type { PushMessage } from '../../src/index';
import { parseFormat } from '../../src/input';
import { registerAction } from '../common/action';
import { callDevice, chipidText, deviceOf, timeoutOf } from '../common/device-call';
import { CHIPID_INPUT } from '../common/inputs';
import { PUSH_TYPE, type PushConfig } from './push.config';

const MESSAGE_INPUT = { message: ['payload', 'msg'] } as const;

/** Pushes to one device, or to all online devices of the application (endpoints 3 and 4, section 6). */
export = function (RED: NodeAPI): void {
  registerAction<PushConfig, 'chipid' | 'message'>(RED, PUSH_TYPE, {
    api: 'open',
    inputs: ({ target }) =>
      target === 'app' ? MESSAGE_INPUT : { ...CHIPID_INPUT, ...MESSAGE_INPUT },
    async perform(call) {
      const { client, config, inputs, msg, signal } = call;
      const format = config.format === 'msg' ? parseFormat(msg['format']) : config.format;
      const message = inputs.message as PushMessage;
      if (config.target !== 'app' && config.transport !== 'channel') {
        return callDevice(call, (chipid, options) =>
          client.push(chipid, message, { ...options, format }),
        );
      }
      const options = { format, timeout: timeoutOf(config), signal };
      if (config.target === 'app') {
        const { statusCode, body } = await client.pushToApp(message, options);
        return { set: { payload: body, statusCode } };
      }
      const chipid = deviceOf(inputs);
      await client.pushOverChannel(chipid, message, options);
      // There is no answer over a channel (section 6).
      return { set: { payload: { msg: 'sent' }, chipid: chipidText(chipid) } };
    },
  });
};
