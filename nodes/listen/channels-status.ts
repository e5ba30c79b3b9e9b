import type { NodeStatus } from 'node-red';
import type { ChannelState } from '../../src/index';
import { STATUS } from '../common/status';

/** The state of one device's channel. */
export interface DeviceState {
  readonly state: ChannelState;
  readonly reason: string | undefined;
}

/** What a listener shows for all its channels together: `connected`, or `3/5` when there are several. */
export function channelsStatus(states: Iterable<DeviceState>): NodeStatus {
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
  if (unauthorized) return STATUS.unauthorized;
  return connecting ? STATUS.connecting : STATUS.disconnected;
}
