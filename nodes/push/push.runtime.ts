import type { PushMessage } from '../../src/index';
import { pushMessage } from '../../src/input';
import { actionRuntime } from '../common/action-runtime';
import { choiceOf } from '../common/choice';
import { callDevice, formatOf, timeoutOf, waitOf } from '../common/device-call';
import { CHIPID_INPUT } from '../common/inputs';
import { answerFields, type CallOne } from '../common/many';
import type { PushConfig } from './push.config';

const MESSAGE_INPUT = { message: ['payload', 'msg'] } as const;

/** Pushes to devices, or to all online devices of the application (endpoints 3 and 4, section 6). */
export const runtime = actionRuntime<PushConfig, 'chipid' | 'message'>({
  api: 'open',
  inputs: ({ target }) =>
    target === 'app' ? MESSAGE_INPUT : { ...CHIPID_INPUT, ...MESSAGE_INPUT },
  perform(call) {
    const { client, config, inputs, msg, signal, onProgress } = call;
    const format = formatOf(config, msg);
    const target = choiceOf(config.target, 'target', ['device', 'app']);
    const transport = choiceOf(config.transport, 'transport', ['http', 'channel']);
    const given = inputs.message as PushMessage;
    if (target === 'app') {
      const options = { format, timeout: timeoutOf(config), signal, onProgress };
      return client.pushToApp(given, options).then((answer) => ({ set: answerFields(answer) }));
    }
    // For many devices it is converted once.
    const message = config.many === true ? pushMessage(given, format) : given;
    if (transport === 'channel') {
      const push: CallOne<unknown> = async (chipid, options) => {
        await client.pushOverChannel(chipid, message, options);
        // There is no answer over a channel (section 6).
        return { body: { msg: 'sent' } };
      };
      return callDevice(call, push, { format });
    }
    return callDevice(call, (chipid, options) => client.push(chipid, message, options), {
      format,
      ...waitOf(config),
    });
  },
});
