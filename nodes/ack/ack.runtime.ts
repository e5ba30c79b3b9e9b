import { defineAction } from '../common/action';
import { CHOICES, DEFAULTS } from './ack.config';

/** Acknowledges an upload of a listener that waits for it. */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs: () => [],
  async perform({ client, msg }) {
    await client.acknowledged.acknowledge(msg['ack']);
    return { set: {} };
  },
});
