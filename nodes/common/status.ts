import type { NodeStatus } from 'node-red';
import { DeviceCloudError } from '../../src/errors';

/** What a node shows below itself. Texts are keys of its catalogue, since only the editor knows the language. */
export const STATUS = {
  none: {},
  calling: { fill: 'blue', shape: 'dot', text: 'status.calling' },
  connecting: { fill: 'yellow', shape: 'ring', text: 'status.connecting' },
  connected: { fill: 'green', shape: 'dot', text: 'status.connected' },
  disconnected: { fill: 'red', shape: 'ring', text: 'status.disconnected' },
  noDevices: { fill: 'grey', shape: 'ring', text: 'status.no-devices' },
} as const satisfies Record<string, NodeStatus>;

/** The status for a failure: its code in a word or two. */
export function failureStatus(error: unknown): NodeStatus {
  const code = error instanceof DeviceCloudError ? error.code : 'ERROR';
  const key = code.toLowerCase().replaceAll('_', '-');
  return { fill: 'red', shape: 'ring', text: `status.${key}` };
}
