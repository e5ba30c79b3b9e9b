import { invalidInput, show } from '../../src/input';
import { actionRuntime } from '../common/action-runtime';
import { noQueue } from '../common/no-queue';
import type { AckConfig } from './ack.config';

/** Acknowledges uploads of the cluster's queue, whichever process has delivered them. */
export const runtime = actionRuntime<AckConfig, never>({
  api: 'open',
  inputs: () => ({}),
  async perform({ client, msg }) {
    const token: unknown = msg['ack'];
    if (typeof token !== 'string')
      throw invalidInput(
        `msg.ack must be the token that a work node has put on the message, but is ${show(token)}.`,
      );
    if (!client.cluster) throw noQueue();
    // One that was acknowledged before is handled: there is nothing to report.
    await client.cluster.acknowledge(token);
    return { set: {} };
  },
});
