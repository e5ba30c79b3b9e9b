import { invalidInput, show } from '../../src/input';
import { defineAction } from '../common/action';
import { noQueue } from '../common/errors';
import { DEFAULTS } from './ack.config';

/** Acknowledges uploads of the cluster's queue, whichever process has delivered them. */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  inputs: () => [],
  async perform({ client, msg }) {
    const token: unknown = msg['ack'];
    if (typeof token !== 'string')
      throw invalidInput(
        `msg.ack must be the token that a work node has put on the message, but is ${show(token)}.`,
      );
    if (!client.cluster) throw noQueue();
    // If it was acknowledged before, there is nothing to report.
    await client.cluster.acknowledge(token);
    return { set: {} };
  },
});
