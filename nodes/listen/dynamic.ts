import type { NodeMessage } from 'node-red';
import { invalidInput, parseChipid, show } from '../../src/input';
import { withFields } from '../common/arrival';
import type { ListenedDevices } from './listened-devices';

const chipidsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).map(parseChipid);

/**
 * Carries out what a message asks of a dynamic listener: `msg.action` = `subscribe`, `unsubscribe` or
 * `list`, with `msg.chipid` a number, a string or an array of them.
 * @returns the message to send on, for `list`: the chip numbers as payload
 * @throws DeviceCloudError `INVALID_INPUT`; then nothing has changed
 */
export function changeDevices(devices: ListenedDevices, msg: NodeMessage): NodeMessage | undefined {
  const { action } = msg;
  switch (action) {
    case 'subscribe':
      for (const chipid of chipidsOf(msg['chipid'])) devices.add(chipid);
      return undefined;
    case 'unsubscribe':
      for (const chipid of chipidsOf(msg['chipid'])) devices.remove(chipid);
      return undefined;
    case 'list':
      return withFields(msg, [], { payload: devices.chipids() });
    default:
      throw invalidInput(
        `msg.action must be "subscribe", "unsubscribe" or "list", but is ${show(action)}.`,
      );
  }
}
