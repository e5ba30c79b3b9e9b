import type { NodeAPI } from 'node-red';
import { registerAction } from '../common/action';
import { DEVICES_TYPE, type DevicesConfig } from './devices.config';

/** Lists the online devices, or reads the application's record (endpoints 2 and 1). */
export = function (RED: NodeAPI): void {
  registerAction<DevicesConfig, never>(RED, DEVICES_TYPE, {
    api: 'open',
    inputs: () => ({}),
    async perform({ client, config, signal }) {
      const { statusCode, body } = await (config.operation === 'app'
        ? client.app({ signal })
        : client.devices({ signal }));
      return { set: { payload: body, statusCode } };
    },
  });
};
