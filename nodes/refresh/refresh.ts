import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/action';
import { callDevice } from '../common/device-call';
import { CHIPID_INPUT } from '../common/inputs';
import { REFRESH_TYPE, type RefreshConfig } from './refresh.config';

/** Has the service probe a device; it may take 10 seconds (endpoint 11). */
export = function (RED: NodeAPI): void {
  registerAction<RefreshConfig, 'chipid'>(RED, REFRESH_TYPE, {
    api: 'open',
    inputs: () => CHIPID_INPUT,
    perform: (call) =>
      callDevice(
        call,
        (chipid, options) => call.client.refresh(chipid, options),
        ({ body }) => ({ online: body.status === 'online' }),
      ),
  });
};
