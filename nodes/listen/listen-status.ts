import type { NodeStatus } from 'node-red';
import type { ChannelState } from '../../src/channel-user';
import { STATUS } from '../common/status';

/** The state of one device's channel. */
export interface DeviceState {
  state: ChannelState;
  reason: string | undefined;
}

const UNAUTHORIZED: NodeStatus = { fill: 'red', shape: 'ring', text: 'status.unauthorized' };

/** What a listener shows for all its channels together: `connected`, or `3/5` when there are several. */
export function listenStatus(states: readonly DeviceState[]): NodeStatus {
  const total = states.length;
  if (total === 0) return STATUS.noDevices;
  const connected = states.filter(({ state }) => state === 'connected').length;
  if (connected > 0) {
    return total === 1 ? STATUS.connected : { ...STATUS.connected, text: `${connected}/${total}` };
  }
  if (states.some(({ reason }) => reason === '401' || reason === '403')) return UNAUTHORIZED;
  return states.some(({ state }) => state === 'connecting')
    ? STATUS.connecting
    : STATUS.disconnected;
}
