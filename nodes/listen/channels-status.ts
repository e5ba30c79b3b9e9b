import type { NodeStatus } from 'node-red';
import type { ChannelState } from '../../src/index';
import { STATUS } from '../common/status';
import { agoText } from './last-upload';

/** The state of one device's channel. */
export interface DeviceState {
  readonly state: ChannelState;
  readonly reason: string | undefined;
  /** When its last live upload arrived; undefined before the first. Milliseconds since 1970, this clock. */
  readonly lastUpload: number | undefined;
}

/**
 * What a listener shows for all its channels together: `connected`, or how long ago the last upload of the only
 * device was, if it was not just now; `3/5` when there are several.
 */
export function channelsStatus(states: Iterable<DeviceState>, now = Date.now()): NodeStatus {
  let total = 0;
  let connected = 0;
  let connecting = false;
  let unauthorized = false;
  let lastUpload: number | undefined;
  for (const { state, reason, lastUpload: at } of states) {
    lastUpload = at;
    total++;
    if (state === 'connected') connected++;
    else if (state === 'connecting') connecting = true;
    if (reason === '401' || reason === '403') unauthorized = true;
  }
  if (total === 0) return STATUS.noDevices;
  if (connected > 0) {
    if (total > 1) return { ...STATUS.connected, text: `${connected}/${total}` };
    const ago = lastUpload === undefined ? undefined : agoText(now - lastUpload);
    return ago === undefined ? STATUS.connected : { ...STATUS.connected, text: ago };
  }
  if (unauthorized) return STATUS.unauthorized;
  return connecting ? STATUS.connecting : STATUS.disconnected;
}

/** Whether a status says how long ago an upload was. */
export const isAge = ({ text }: NodeStatus): boolean => /^status\.upload-/.test(text ?? '');
