import type { NodeStatus } from 'node-red';
import type { ChannelState } from '../../src/channel/types';
import { STATUS } from '../common/status';

/** The state of one device's channel. */
export interface DeviceState {
  state: ChannelState;
  reason: string | undefined;
}

const UNAUTHORIZED: NodeStatus = { fill: 'red', shape: 'ring', text: 'status.unauthorized' };

/** What a listener shows for all its channels together: `connected`, or `3/5` when there are several. */
export function listenStatus(states: Iterable<DeviceState>): NodeStatus {
  let total = 0;
  let connected = 0;
  let connecting = false;
  let unauthorized = false;
  for (const { state, reason } of states) {
    total++;
    if (state === 'connected') connected++;
    else if (state === 'connecting') connecting = true;
    if (reason === '401' || reason === '403') unauthorized = true;
  }
  if (total === 0) return STATUS.noDevices;
  if (connected > 0) {
    return total === 1 ? STATUS.connected : { ...STATUS.connected, text: `${connected}/${total}` };
  }
  if (unauthorized) return UNAUTHORIZED;
  return connecting ? STATUS.connecting : STATUS.disconnected;
}
