import type { NodeMessage } from 'node-red';
import { parseChipid } from '../../src/input/chipid';
import { invalidInput } from '../../src/errors';
import { show } from '../../src/util/show';
import type { Subscriptions } from './subscriptions';

const chipidsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).map(parseChipid);

/**
 * Carries out what a message asks of a dynamic listener: `msg.action` = `subscribe`, `unsubscribe` or
 * `list`, with `msg.chipid` a number, a string or an array of them.
 * @returns the message to send on, for `list`: the chip numbers as payload
 * @throws DeviceCloudError `INVALID_INPUT`; then nothing has changed
 */
export function changeSubscriptions(
  subscriptions: Subscriptions,
  msg: NodeMessage,
): NodeMessage | undefined {
  const { action } = msg;
  switch (action) {
    case 'subscribe':
      for (const chipid of chipidsOf(msg['chipid'])) subscriptions.add(chipid);
      return undefined;
    case 'unsubscribe':
      for (const chipid of chipidsOf(msg['chipid'])) subscriptions.remove(chipid);
      return undefined;
    case 'list':
      return Object.assign(msg, { payload: subscriptions.chipids() });
    default:
      throw invalidInput(
        `msg.action must be "subscribe", "unsubscribe" or "list", but is ${show(action)}.`,
      );
  }
}
