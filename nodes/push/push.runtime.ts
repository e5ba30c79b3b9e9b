import { pushMessage } from '../../src/index';
import { defineAction } from '../common/action';
import { formatOf } from '../common/inputs';
import { performPlan } from '../common/device-call';
import { CHOICES, DEFAULTS } from './push.config';

/** Pushes to devices, or to all online devices of the application (endpoints 3 and 4, section 6). */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs: ({ target }) => (target === 'app' ? ['message'] : ['chipid', 'message']),
  waits: () => true,
  perform(call) {
    const { config, inputs, msg } = call;
    const format = formatOf(config, msg);
    const { target, transport } = config;
    const { chipid: device, message } = inputs;
    const options = { format };
    if (target === 'app') return performPlan(call, { call: 'pushToApp', args: [message], options });
    // For many devices it is converted once, and kept as text.
    const isText = config.many || config.when !== 'now';
    const args = [isText ? pushMessage(message, format) : message];
    if (transport === 'http') return performPlan(call, { call: 'push', device, args, options });
    // There is no answer over a channel (section 6).
    const fields = () => ({ payload: { msg: 'sent' } });
    return performPlan(call, { call: 'pushOverChannel', device, args, options, fields });
  },
});
